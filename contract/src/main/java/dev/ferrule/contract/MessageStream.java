// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import java.util.function.LongToIntFunction;

/**
 * An infinite sequence of numbered messages. The length and bytes of each follow from its number,
 * so that the receiver can detect a message that is lost, duplicated, reordered, truncated, or
 * mixed with another one.
 */
final class MessageStream {

  private static final int CHUNK = 1 << 16;
  private static final MemorySegment NOISE = noise();

  private final LongToIntFunction lengths;
  private final long salt;

  private MessageStream(long salt, LongToIntFunction lengths) {
    this.salt = salt;
    this.lengths = lengths;
  }

  /** Messages that all have the same length. */
  static MessageStream ofLength(int length) {
    return new MessageStream(1, number -> length);
  }

  /** Messages of the given lengths, repeatedly. */
  static MessageStream ofLengths(int... lengths) {
    return new MessageStream(2, number -> lengths[(int) (number % lengths.length)]);
  }

  /** Messages from 0 bytes up to the longest; most are short. Streams of different salts differ. */
  static MessageStream ofRandomLengths(long salt, int longest) {
    return new MessageStream(
        salt,
        number -> {
          long random = mix(number + salt * 1_000_003);
          int bound =
              switch ((int) (random & 3)) {
                case 0 -> 16;
                case 1, 2 -> 256;
                default -> longest;
              };
          return (int) ((random >>> 2) % (Math.min(bound, longest) + 1));
        });
  }

  int length(long number) {
    return lengths.applyAsInt(number);
  }

  byte[] bytes(long number) {
    byte[] bytes = new byte[length(number)];
    write(MemorySegment.ofArray(bytes), 0, number);
    return bytes;
  }

  /** Writes a message to {@code target[offset, offset + length(number))}. */
  void write(MemorySegment target, long offset, long number) {
    int length = length(number);
    for (int done = 0; done < length; done += CHUNK) {
      MemorySegment.copy(
          NOISE, start(number, done), target, offset + done, Math.min(CHUNK, length - done));
    }
    if (length >= Long.BYTES) {
      target.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, number ^ salt);
    }
  }

  /** Checks that {@code buffer[offset, offset + length)} is that message and no other. */
  void verify(MemorySegment buffer, long offset, long length, long number) {
    if (length != length(number)) {
      throw new AssertionError(
          "message " + number + " has " + length + " bytes instead of " + length(number));
    }
    int from = 0;
    if (length >= Long.BYTES) {
      long found = buffer.get(ValueLayout.JAVA_LONG_UNALIGNED, offset) ^ salt;
      if (found != number) {
        throw new AssertionError("message " + number + " starts like message " + found);
      }
      from = Long.BYTES;
    }
    for (int done = 0; done < length; done += CHUNK) {
      long start = start(number, done);
      long end = Math.min(CHUNK, length - done);
      long mismatch =
          MemorySegment.mismatch(
              NOISE, start + from, start + end, buffer, offset + done + from, offset + done + end);
      if (mismatch >= 0) {
        throw new AssertionError(
            "message "
                + number
                + " of "
                + length
                + " bytes is wrong from byte "
                + (done + from + mismatch)
                + " on");
      }
      from = 0;
    }
  }

  private long start(long number, int chunk) {
    return mix(number * 31 + chunk + salt) & (CHUNK - 1);
  }

  private static long mix(long value) {
    long mixed = (value ^ (value >>> 33)) * 0xff51afd7ed558ccdL;
    mixed = (mixed ^ (mixed >>> 33)) * 0xc4ceb9fe1a85ec53L;
    return (mixed ^ (mixed >>> 33)) >>> 1;
  }

  private static MemorySegment noise() {
    byte[] bytes = new byte[2 * CHUNK];
    new SplittableRandom(42).nextBytes(bytes);
    return MemorySegment.ofArray(bytes).asReadOnly();
  }
}
