// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.ReceiveRegion;
import dev.ferrule.RmaHandle;
import dev.ferrule.Sender;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Memory that a server exposes for a measurement, as sent to the client in one message: its handle,
 * and its address for the bare system call, which has no handles.
 *
 * @param handle what the client attaches
 * @param pid the server's process, in its own PID namespace
 * @param address the address of the memory in that process
 */
record ExposureMessage(RmaHandle handle, long pid, long address) {

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final long PID_OFFSET = 0;
  private static final long ADDRESS_OFFSET = 8;
  private static final long HANDLE_OFFSET = 16;

  void send(Sender sender) {
    byte[] bytes = handle.toBytes();
    MemorySegment message =
        MemorySegment.ofArray(new byte[Math.toIntExact(HANDLE_OFFSET) + bytes.length]);
    message.set(LONG, PID_OFFSET, pid);
    message.set(LONG, ADDRESS_OFFSET, address);
    MemorySegment.copy(MemorySegment.ofArray(bytes), 0, message, HANDLE_OFFSET, bytes.length);
    sender.send(message);
  }

  static ExposureMessage read(ReceiveRegion region) {
    MemorySegment message = region.segment();
    Refusal.throwIfRefused(message);
    long handleBytes = message.byteSize() - HANDLE_OFFSET;
    if (handleBytes < 1 || handleBytes > RmaHandle.MAX_BYTES) {
      throw new ToolException(
          ExitCode.CONNECTION_LOST, "protocol violation: the server sent no memory handle");
    }
    return new ExposureMessage(
        RmaHandle.of(message.asSlice(HANDLE_OFFSET).toArray(ValueLayout.JAVA_BYTE)),
        message.get(LONG, PID_OFFSET),
        message.get(LONG, ADDRESS_OFFSET));
  }
}
