// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import dev.ferrule.RmaHandle;
import dev.ferrule.RmaRight;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * The content of an RMA handle. 28 bytes, little-endian:
 *
 * <pre>
 *  0  1  version, 1
 *  1  1  rights; bit 0: read, bit 1: write, bit 2: atomic operations
 *  2  2  zero
 *  4  4  id of the exposed memory within the connection
 *  8  8  generation: a random number, unique among all memory with that id
 * 16  8  length in bytes
 * 24  4  the device's key, or zero
 * </pre>
 *
 * @param id the id of the exposed memory within the connection, from 0
 * @param generation distinguishes the memory from other memory with the same id, now or earlier
 * @param length the length in bytes
 * @param rights the peer's rights, at least one
 * @param key the device's key for the memory; 0 if there is none
 */
public record RmaKey(int id, long generation, long length, Set<RmaRight> rights, int key) {

  private static final byte VERSION = 1;
  private static final int RIGHTS = 1;
  private static final int ID = 4;
  private static final int GENERATION = 8;
  private static final int LENGTH = 16;
  private static final int KEY = 24;
  private static final int SIZE = 28;
  private static final int ALL_RIGHTS = (1 << RmaRight.values().length) - 1;

  /** Copies the rights. */
  public RmaKey {
    rights = Set.copyOf(rights);
  }

  /**
   * Returns the rights as encoded in a handle.
   *
   * @param rights the rights
   * @return bit 0: read, bit 1: write, bit 2: atomic operations
   */
  public static int bits(Set<RmaRight> rights) {
    return rights.stream().mapToInt(right -> 1 << right.ordinal()).sum();
  }

  /**
   * Encodes this key as a handle.
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
   * Decodes a handle. Its content is untrusted: it comes from the peer.
   *
   * @param handle the handle
   * @return the key; empty if the handle is malformed or of another version
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
    // re-encoding yields the same bytes only if all reserved bytes are zero and all rights are
    // known
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
