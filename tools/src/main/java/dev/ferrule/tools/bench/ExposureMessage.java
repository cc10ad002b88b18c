// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.ReceiveRegion;
import dev.ferrule.RmaHandle;
import dev.ferrule.Sender;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The message in which a server describes the memory that it exposes for a measurement: its handle,
 * and its address for the bare system call, which knows no handles.
 *
 * @param handle the handle that the client attaches
 * @param pid the id of the server's process, in its own PID namespace
 * @param address the address of the memory in that process
 */
record ExposureMessage(RmaHandle handle, long pid, long address) {

  private static final int HANDLE_OFFSET = 2 * Long.BYTES;

  void send(Sender sender) {
    byte[] bytes = handle.toBytes();
    ByteBuffer message =
        ByteBuffer.allocate(HANDLE_OFFSET + bytes.length).order(ByteOrder.LITTLE_ENDIAN);
    message.putLong(pid).putLong(address).put(bytes);
    sender.send(MemorySegment.ofArray(message.array()));
  }

  static ExposureMessage read(ReceiveRegion region) {
    MemorySegment segment = region.segment();
    Refusal.throwIfRefused(segment);
    long handleBytes = segment.byteSize() - HANDLE_OFFSET;
    if (handleBytes < 1 || handleBytes > RmaHandle.MAX_BYTES) {
      throw new ToolException(
          ExitCode.CONNECTION_LOST, "protocol violation: the server sent no memory handle");
    }
    ByteBuffer message =
        ByteBuffer.wrap(segment.toArray(ValueLayout.JAVA_BYTE)).order(ByteOrder.LITTLE_ENDIAN);
    byte[] handle = Arrays.copyOfRange(message.array(), HANDLE_OFFSET, message.capacity());
    long pid = message.getLong();
    if (pid < 1 || pid > Integer.MAX_VALUE) {
      throw new ToolException(
          ExitCode.CONNECTION_LOST, "protocol violation: the server sent no process id");
    }
    return new ExposureMessage(RmaHandle.of(handle), pid, message.getLong());
  }
}
