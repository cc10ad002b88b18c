// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.idle;

import dev.ferrule.verbs.libibverbs.ibv_qp_init_attr;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The device of {@code build-support/bench/idle_device.h}, which completes all posted requests and
 * acts as the peer.
 */
final class IdleDeviceLibrary {

  private static final String LIBRARY = System.getProperty("ferrule.idleDevice");

  private final SymbolLookup functions;

  IdleDeviceLibrary() {
    if (LIBRARY == null) {
      throw new IllegalStateException(
          "no library in the property ferrule.idleDevice: run"
              + " build-support/bench/rdma-path.sh, which compiles it");
    }
    functions = SymbolLookup.libraryLookup(Path.of(LIBRARY), Arena.global());
  }

  private Object call(String name, FunctionDescriptor type, Object... arguments) {
    try {
      return Linker.nativeLinker()
          .downcallHandle(functions.findOrThrow(name), type)
          .invokeWithArguments(arguments);
    } catch (Throwable e) {
      throw new IllegalStateException(name, e);
    }
  }

  private long address(String name, Object... arguments) {
    MemoryLayout[] types = new MemoryLayout[arguments.length];
    Arrays.fill(types, ValueLayout.JAVA_LONG);
    return (long) call(name, FunctionDescriptor.of(ValueLayout.JAVA_LONG, types), arguments);
  }

  long context() {
    return address("idle_context");
  }

  long createCompletionQueue() {
    return address("idle_create_cq");
  }

  long createQueuePair(MemorySegment attributes) {
    return address(
        "idle_create_qp",
        ibv_qp_init_attr.send_cq(attributes).address(),
        ibv_qp_init_attr.recv_cq(attributes).address());
  }

  /** Sets the peer's window, and the messages that each poll finds. */
  void setPeer(int window, int burst, int length, boolean ring) {
    FunctionDescriptor type =
        FunctionDescriptor.ofVoid(
            ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);
    call("idle_peer", type, window, burst, length, ring ? 1 : 0);
  }
}
