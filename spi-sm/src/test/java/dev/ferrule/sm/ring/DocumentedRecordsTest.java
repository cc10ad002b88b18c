// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * The bytes of records in a ring. The expected numbers are those of the tables in
 * docs/protocol-sm.md, not the product's constants.
 */
class DocumentedRecordsTest {

  private static final int EMPTY = 0;
  private static final int INLINE = 1;
  private static final int LINES = 2;
  private static final int PADDING = 3;

  private static final int SIZE = 4096;

  /** Behind 4096 bytes of fields, and 4 bytes for each of 32 release entries, in whole pages. */
  private static final int RECORDS = 8192;

  private final Rings rings = new Rings(new RingLayout(12, 16, 1000), true);

  private long header(int position) {
    return rings.ring.get(JAVA_LONG, RECORDS + position % SIZE);
  }

  private static int type(long header) {
    return (int) (header & 15);
  }

  /** Returns the field in bits 4 to 31. */
  private static int lengthOrSize(long header) {
    return (int) header >>> 4;
  }

  @Test
  void theFirstFourBitsOfAHeaderAreItsType() {
    rings.send(Rings.message(5, 7));
    assertThat(type(header(0))).isEqualTo(INLINE);
    assertThat(lengthOrSize(header(0))).isEqualTo(5);
    assertThat(header(0) >>> 32).isZero();
    assertThat(rings.ring.asSlice(RECORDS + 8, 5).toArray(JAVA_BYTE))
        .isEqualTo(Rings.message(5, 7));

    rings.send(Rings.message(600, 8)); // more than an eighth of the ring
    long lines = header(16);
    assertThat(type(lines)).isEqualTo(LINES);
    assertThat(lines >>> 32).isEqualTo(600);
    long line = lines >>> 8 & 0xff_ffff;
    assertThat(rings.buffer.asSlice(line * 64, 600).toArray(JAVA_BYTE))
        .isEqualTo(Rings.message(600, 8));

    assertThat(header(24)).isEqualTo(EMPTY);
  }

  @Test
  void paddingEndsWithTheRing() {
    int position = 0;
    while (SIZE - position >= 8 + 496) {
      rings.send(Rings.message(496, position));
      rings.receive();
      position += 8 + 496;
    }

    rings.send(Rings.message(200, 1));

    assertThat(type(header(position))).isEqualTo(PADDING);
    assertThat(lengthOrSize(header(position))).isEqualTo(SIZE - position);
    assertThat(header(position) >>> 32).isZero();
    assertThat(type(header(SIZE))).isEqualTo(INLINE);
    assertThat(lengthOrSize(header(SIZE))).isEqualTo(200);
  }
}
