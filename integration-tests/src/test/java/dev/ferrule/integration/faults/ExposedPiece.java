// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A model of memory that one side exposes and the other accesses. */
final class ExposedPiece {

  final int owner;
  final String handle;
  final Set<String> rights;
  final boolean allocated; // by Ferrule; the program must not access it after closing it
  final byte[] bytes;
  boolean exposed = true;
  boolean attached;
  boolean unknown; // the content, as an access has failed, or ran when the exposure ended
  private @Nullable String last; // the content since the exposure has ended

  ExposedPiece(int owner, String handle, Set<String> rights, boolean allocated, int length) {
    this.owner = owner;
    this.handle = handle;
    this.rights = rights;
    this.allocated = allocated;
    this.bytes = new byte[length];
  }

  /** Returns the description of a part. */
  String describe(int offset, int length) {
    return Contents.describe(MemorySegment.ofArray(bytes).asSlice(offset, length));
  }

  /** Copies a slice of the contents. */
  void write(int offset, String place) {
    byte[] slice = Contents.slice(place);
    System.arraycopy(slice, 0, bytes, offset, slice.length);
  }

  /** Copies a part to another place. */
  void relay(int offset, int length, int to) {
    System.arraycopy(bytes, offset, bytes, to, length);
  }

  long word(int offset) {
    return words().getLong(offset);
  }

  void setWord(int offset, long value) {
    words().putLong(offset, value);
  }

  private ByteBuffer words() {
    return ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
  }

  /** Checks the content that the owner has read. */
  void expectContent(String description) {
    String expected = last;
    if (expected == null && !unknown) {
      expected = describe(0, bytes.length);
    }
    if (expected != null && !expected.equals(description)) {
      throw new AssertionError(
          "exposed memory contains %s, not %s".formatted(description, expected));
    }
    if (!exposed) {
      last = description; // from now on it does not change
    }
  }
}
