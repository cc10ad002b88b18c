// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import dev.ferrule.RmaHandle;
import dev.ferrule.RmaRight;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * What a handle says, for providers. 32 bytes, little-endian:
 *
 * <pre>
 *  0  1  version, 1
 *  1  1  rights; bit 0: read, bit 1: write
 *  2  2  zero
 *  4  4  id: which of the memory that is exposed over the connection
 *  8  8  generation: a random number, which no other memory of that id has had
 * 16  8  length in bytes
 * 24  4  key: the device's, or zero
 * 28  4  zero
 * </pre>
 *
 * @param id which of the memory that is exposed over the connection, from 0
 * @param generation tells it from other memory that has or had the same id
 * @param length its length in bytes
 * @param rights what the peer may do, at least one
 * @param key by which a device knows it; 0 if there is none
 */
public record RmaKey(int id, long generation, long length, Set<RmaRight> rights, int key) {

  private static final byte VERSION = 1;
  private static final int RIGHTS = 1;
  private static final int ID = 4;
  private static final int GENERATION = 8;
  private static final int LENGTH = 16;
  private static final int KEY = 24;
  private static final int SIZE = 32;
  private static final int ALL_RIGHTS = (1 << RmaRight.values().length) - 1;

  /** Keeps the rights as they are now. */
  public RmaKey {
    rights = Set.copyOf(rights);
  }

  /**
   * Returns the rights as a number, as they are in a handle.
   *
   * @param rights the rights
   * @return bit 0: read, bit 1: write
   */
  public static int bits(Set<RmaRight> rights) {
    return rights.stream().mapToInt(right -> 1 << right.ordinal()).sum();
  }

  /**
   * Makes a handle of it.
   *
   * @return the handle
   */
  public RmaHandle encode() {
    ByteBuffer bytes = ByteBuffer.allocate(SIZE).order(ByteOrder.LITTLE_ENDIAN);
    bytes.put(0, VERSION);
    bytes.put(RIGHTS, (byte) bits(rights));
    bytes.putInt(ID, id);
    bytes.putLong(GENERATION, generation);
    bytes.putLong(LENGTH, length);
    bytes.putInt(KEY, key);
    return RmaHandle.of(bytes.array());
  }

  /**
   * Reads a handle. What it says is the peer's word, and no more.
   *
   * @param handle the handle
   * @return what it says; empty if it is none of this version
   */
  public static Optional<RmaKey> decode(RmaHandle handle) {
    ByteBuffer bytes = ByteBuffer.wrap(handle.toBytes()).order(ByteOrder.LITTLE_ENDIAN);
    if (bytes.capacity() != SIZE || bytes.get(0) != VERSION) {
      return Optional.empty();
    }
    int bits = bytes.get(RIGHTS);
    RmaKey key =
        new RmaKey(
            bytes.getInt(ID),
            bytes.getLong(GENERATION),
            bytes.getLong(LENGTH),
            rights(bits & ALL_RIGHTS),
            bytes.getInt(KEY));
    boolean isRight = key.id >= 0 && key.length >= 0 && !key.rights.isEmpty();
    // it is the same again only if there is nothing in between that this version does not know
    return isRight && key.encode().equals(handle) ? Optional.of(key) : Optional.empty();
  }

  private static Set<RmaRight> rights(int bits) {
    Set<RmaRight> rights = EnumSet.noneOf(RmaRight.class);
    for (RmaRight right : RmaRight.values()) {
      if ((bits & 1 << right.ordinal()) != 0) {
        rights.add(right);
      }
    }
    return rights;
  }
}
