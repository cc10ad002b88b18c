// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.process;

import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Messages of several threads over one connection. Each contains its thread, its number, and
 * whether it is the thread's last; its length and its other bytes follow from these.
 */
final class Numbered {

  private static final int HEADER = 12;

  private Numbered() {}

  private static int length(int thread, int number) {
    int mixed = (number * 0x9e3779b1 + thread * 0x85ebca6b) >>> 8;
    return HEADER + mixed % (mixed % 4 == 0 ? 8_000 : 150);
  }

  /** Sends a message, some by a claim and some by a copy. */
  static void send(Sender sender, int thread, int number, boolean last) {
    int length = length(thread, number);
    if (number % 2 == 0) {
      SendRegion region = sender.claim(length);
      write(region.segment(), thread, number, last);
      region.commit();
    } else {
      MemorySegment message = MemorySegment.ofArray(new byte[length]);
      write(message, thread, number, last);
      sender.send(message);
    }
  }

  /** Adds a message to the batch, some as a region and some as a copy. */
  static void add(Sender sender, int thread, int number) {
    int length = length(thread, number);
    if (number % 2 == 0) {
      SendRegion region = sender.claim(length);
      write(region.segment(), thread, number, false);
      region.stage();
    } else {
      MemorySegment message = MemorySegment.ofArray(new byte[length]);
      write(message, thread, number, false);
      sender.stage(message);
    }
  }

  private static void write(MemorySegment message, int thread, int number, boolean last) {
    message.fill((byte) (number + thread));
    message.set(ValueLayout.JAVA_INT_UNALIGNED, 0, thread);
    message.set(ValueLayout.JAVA_INT_UNALIGNED, 4, number);
    message.set(ValueLayout.JAVA_INT_UNALIGNED, 8, last ? 1 : 0);
  }

  /**
   * Checks a message against the number of earlier messages of each thread; returns whether it is a
   * last one.
   */
  static boolean verify(MemorySegment message, int[] counts) {
    int thread = message.get(ValueLayout.JAVA_INT_UNALIGNED, 0);
    int number = message.get(ValueLayout.JAVA_INT_UNALIGNED, 4);
    if (number != counts[thread] || message.byteSize() != length(thread, number)) {
      throw new AssertionError(
          "message "
              + number
              + " of thread "
              + thread
              + " with "
              + message.byteSize()
              + " bytes, after "
              + counts[thread]);
    }
    for (long i = HEADER; i < message.byteSize(); i++) {
      if (message.get(ValueLayout.JAVA_BYTE, i) != (byte) (number + thread)) {
        throw new AssertionError("byte " + i + " of message " + number + " of thread " + thread);
      }
    }
    counts[thread]++;
    return message.get(ValueLayout.JAVA_INT_UNALIGNED, 8) != 0;
  }
}
