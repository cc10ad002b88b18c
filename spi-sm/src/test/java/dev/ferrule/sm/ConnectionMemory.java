// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.Connection;
import dev.ferrule.posix.SharedMapping;
import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.sm.rma.RmaLayout;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Field;
import java.util.List;

/**
 * The shared memory of a connection as seen by a hostile peer, which has mapped it and writes
 * arbitrary bytes. Valid while the connection is reachable.
 *
 * @param ring the ring
 * @param rma the area for remote memory access
 * @param buffer the payload lines
 * @param rmaBuffer the buffer for fragments
 */
public record ConnectionMemory(
    MemorySegment ring, MemorySegment rma, MemorySegment buffer, MemorySegment rmaBuffer) {

  private static ConnectionMemory of(SharedRing ring) {
    SharedMapping mapping = ring.mapping();
    RingLayout layout = ring.layout();
    MemorySegment all = MemorySegment.ofAddress(mapping.address()).reinterpret(mapping.size());
    long rma = layout.ringSize();
    long buffer = rma + RmaLayout.SIZE;
    long rmaBuffer = buffer + layout.bufferSize() + ring.lanes() * layout.laneSize();
    return new ConnectionMemory(
        all.asSlice(0, rma),
        all.asSlice(rma, RmaLayout.SIZE),
        all.asSlice(buffer, layout.bufferSize()),
        all.asSlice(rmaBuffer));
  }

  /**
   * Returns the memory from which a connection receives.
   *
   * @param connection a connection of sm
   * @return its memory
   */
  public static ConnectionMemory ofReceiver(Connection connection) {
    return of(resources(connection).own());
  }

  /**
   * Returns the memory to which a connection sends.
   *
   * @param connection a connection of sm
   * @return its peer's memory
   */
  public static ConnectionMemory ofSender(Connection connection) {
    return of(resources(connection).peerRing());
  }

  /**
   * Returns the memory of both directions.
   *
   * @param connection a connection of sm
   * @return the memory of both directions
   */
  public static List<ConnectionMemory> ofBoth(Connection connection) {
    return List.of(ofReceiver(connection), ofSender(connection));
  }

  private static SmConnectionResources resources(Connection connection) {
    try {
      Field field = SmConnection.class.getDeclaredField("resources");
      field.setAccessible(true);
      return (SmConnectionResources) field.get(connection);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }
}
