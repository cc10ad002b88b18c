// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.containers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Connection;
import dev.ferrule.ReceiveRegion;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.zip.CRC32;

/** Messages of many lengths, in both directions concurrently, with a checksum of each direction. */
final class Traffic {

  private static final int MESSAGES = 2_000;
  private static final int LONG_ONE_IN = 100;
  private static final int SHORT = 3_000;

  private Traffic() {}

  /**
   * One side's checksums, to be compared with the other side's.
   *
   * @param sent the checksum of all bytes and lengths sent, in order
   * @param received the checksum of all bytes and lengths received, in order
   */
  record Report(long sent, long received) {

    static Report parse(String text) {
      String[] words = text.split(" ");
      return new Report(Long.parseLong(words[0]), Long.parseLong(words[1]));
    }

    void assertIsWhatTheOtherSideSaw(Report other) {
      assertThat(received).as("checksum of received messages").isEqualTo(other.sent);
      assertThat(other.received).as("checksum at the other side").isEqualTo(sent);
      assertThat(sent).as("the two directions differ").isNotEqualTo(received);
    }

    @Override
    public String toString() {
      return sent + " " + received;
    }
  }

  /** Sends and receives; the other side does the same. */
  static Report exchange(Connection connection) throws Exception {
    FutureTask<Long> sending = new FutureTask<>(() -> send(connection));
    Thread.ofPlatform().daemon().start(sending);
    long received = receive(connection);
    return new Report(sending.get(), received);
  }

  private static long send(Connection connection) {
    Random random = new Random();
    CRC32 checksum = new CRC32();
    int longest = connection.sender().maxMessage();
    for (int i = 0; i < MESSAGES; i++) {
      int bound = i % LONG_ONE_IN == 0 ? longest : Math.min(SHORT, longest);
      byte[] message = new byte[random.nextInt(bound + 1)];
      random.nextBytes(message);
      add(checksum, message);
      connection.sender().send(MemorySegment.ofArray(message));
    }
    return checksum.getValue();
  }

  private static long receive(Connection connection) {
    CRC32 checksum = new CRC32();
    for (int i = 0; i < MESSAGES; i++) {
      try (ReceiveRegion message = connection.receiver().receive()) {
        add(checksum, message.segment().toArray(ValueLayout.JAVA_BYTE));
      }
    }
    return checksum.getValue();
  }

  private static void add(CRC32 checksum, byte[] message) {
    checksum.update(ByteBuffer.allocate(Integer.BYTES).putInt(message.length).array());
    checksum.update(message);
  }
}
