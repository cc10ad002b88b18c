// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.containers;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.Ferrule;
import dev.ferrule.FerruleException;
import dev.ferrule.StandardOptions;
import dev.ferrule.posix.DatagramSocket;
import dev.ferrule.posix.SealedFile;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;

/**
 * A member of the group that a listener admits by {@code access=group}. It misuses the handshake to
 * disturb other clients: it abandons connects at any time, and sends handshake messages in any
 * order. The messages are well-formed; CONNECT passes memory without a ring, or none.
 */
final class HostileMember {

  private static final int CONNECT = 1;
  private static final int ACK = 4;
  private static final int CANCEL = 5;
  private static final int VERSION = 2;
  private static final int NUMBERS = 20;
  private static final Duration PATIENT = Duration.ofSeconds(60);

  private HostileMember() {}

  /**
   * Attacks a listener.
   *
   * @param listener the URI of its endpoint
   * @param attempts the number of connects, and of datagrams
   * @return how many of the connects with a long timeout, which are half of them, have succeeded
   */
  static String attack(URI listener, int attempts) throws IOException {
    Random random = new Random(29);
    Path victim = Path.of(listener.getPath());
    Path own = Files.createDirectories(victim.resolveSibling("../99/1").normalize());
    int established = 0;
    try (DatagramSocket socket = new DatagramSocket(own.resolve("sock"));
        SealedFile memory = SealedFile.create(1 << 16, 1 << 16)) {
      for (int i = 0; i < attempts; i++) {
        boolean isPatient = i % 2 == 0;
        Duration timeout = isPatient ? PATIENT : Duration.ofMillis(1 + random.nextInt(20));
        established += isConnected(listener, timeout) && isPatient ? 1 : 0;
        int type = new int[] {CONNECT, ACK, CANCEL}[random.nextInt(3)];
        boolean passes = type == CONNECT && random.nextBoolean();
        socket.send(message(type, random), passes ? memory : null, victim.resolve("sock"));
        if (random.nextInt(4) == 0) {
          socket.receive(); // the other answers fill the queue
        }
      }
    }
    return String.valueOf(established);
  }

  private static boolean isConnected(URI listener, Duration timeout) {
    ConnectionOptions options =
        ConnectionOptions.builder().set(StandardOptions.CONNECT_TIMEOUT, timeout).build();
    try {
      Ferrule.connect(listener, options).close();
      return true;
    } catch (FerruleException e) {
      return false;
    }
  }

  private static byte[] message(int type, Random random) {
    long header =
        type
            | VERSION << 4
            | (long) (1 + random.nextInt(NUMBERS)) << 24
            | (long) (1 + random.nextInt(NUMBERS)) << 44;
    return ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(header).array();
  }
}
