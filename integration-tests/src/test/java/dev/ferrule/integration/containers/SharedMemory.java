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
 * Memory of this program that the peer reads and writes, and the peer's memory, which this program
 * reads and writes. Both sides create one at the same time.
 */
final class SharedMemory {

  /** More than the fragments' buffer holds, and not a multiple of any block size. */
  private static final int SIZE = (3 << 20) + 7;

  private final Connection connection;
  private final Random random = new Random();
  private final MemorySegment own = Arena.global().allocate(SIZE);
  private final RegisteredMemory local;
  private final RemoteMemory remote;

  /** Exposes memory with random content, and exchanges handles with the peer. */
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

  /** Returns the checksum of this program's own memory. */
  String ownChecksum() {
    return checksum(own);
  }

  /** Reads all of the peer's memory, and returns its checksum. */
  String readChecksum() {
    connection.rma().await(connection.rma().read(local, 0, remote, 0, SIZE));
    return checksum(local.segment());
  }

  /** Writes all of the peer's memory, and returns the checksum of what was written. */
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
