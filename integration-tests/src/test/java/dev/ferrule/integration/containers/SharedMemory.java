// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.containers;

import dev.ferrule.Connection;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.RemoteMemory;
import dev.ferrule.RmaHandle;
import dev.ferrule.RmaRight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import java.util.zip.CRC32;

/**
 * Memory of this program that the peer reads and writes, and the peer's, with which this one does.
 * Both sides make one at the same time.
 */
final class SharedMemory {

  /** More than the fragments' buffer holds, and no multiple of anything. */
  private static final int SIZE = (3 << 20) + 7;

  private final Connection connection;
  private final Random random = new Random();
  private final MemorySegment own = Arena.global().allocate(SIZE);
  private final RegisteredMemory local;
  private final RemoteMemory remote;

  /** Tells the peer of memory with random content, and hears of the peer's. */
  SharedMemory(Connection connection) {
    this.connection = connection;
    this.local = connection.register(Arena.global().allocate(SIZE));
    fill(own);
    RmaHandle handle = connection.rma().expose(own, RmaRight.READ, RmaRight.WRITE).handle();
    connection.sender().send(MemorySegment.ofArray(handle.toBytes()));
    try (ReceiveRegion message = connection.receiver().receive()) {
      byte[] bytes = message.segment().toArray(ValueLayout.JAVA_BYTE);
      remote = connection.rma().attach(RmaHandle.of(bytes));
    }
  }

  private void fill(MemorySegment memory) {
    byte[] bytes = new byte[SIZE];
    random.nextBytes(bytes);
    MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, SIZE);
  }

  /** What is in this program's own memory now. */
  String ownChecksum() {
    return checksum(own);
  }

  /** Reads all of the peer's memory, and says what was in it. */
  String readChecksum() {
    connection.rma().await(connection.rma().read(local, 0, remote, 0, SIZE));
    return checksum(local.segment());
  }

  /** Writes all of the peer's memory, and says what. */
  String write() {
    fill(local.segment());
    connection.rma().await(connection.rma().write(local, 0, remote, 0, SIZE));
    return checksum(local.segment());
  }

  private static String checksum(MemorySegment memory) {
    CRC32 checksum = new CRC32();
    checksum.update(memory.toArray(ValueLayout.JAVA_BYTE));
    return Long.toString(checksum.getValue());
  }
}
