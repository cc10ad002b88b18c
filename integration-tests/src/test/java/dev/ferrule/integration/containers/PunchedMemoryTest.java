// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.containers;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * If a peer frees pages of the memory that it has passed, the kernel charges this side for the
 * pages that it writes: at most once for each page of the buffer, however often the peer frees
 * them.
 */
class PunchedMemoryTest extends ContainerTest {

  private static final long MIB = 1 << 20;
  private static final long BUFFER = 64 * MIB; // of the client
  private static final int MESSAGES = 4; // at once
  private static final long SENT = MESSAGES * 12 * MIB; // in each round
  private static final int ROUNDS = 10;

  @Test
  void theServerIsChargedForNoMoreThanTheClientsBufferHoweverOftenItIsFreed() {
    assertThat(ROUNDS * SENT).isGreaterThan(PeerContainer.LIMIT);
    SharedVolume volume = volume("64k");
    PeerContainer server = container(volume).memoryLimit().start();
    PeerContainer client = container(volume).start();
    // without allocatable memory, the server's memory is shorter than the client's
    server.ask("listen " + ADDRESS + "?allocatable=0");
    connect(server, client, ADDRESS + "?maxMessage=16MiB&buffer=64MiB");
    exchange(server, client);
    long before = sharedMemory(server);
    assertThat(before).isLessThan(SENT / 2);

    for (int round = 0; round < ROUNDS; round++) {
      client.ask("punch " + BUFFER);
      exchange(server, client);
      assertThat(sharedMemory(server) - before).isBetween(SENT * 3 / 4, BUFFER + MIB);
    }

    client.ask("close 1");
    server.ask("close 1");
    assertThat(client.exit()).isZero();
    assertThat(server.exit()).isZero();
  }

  private static void exchange(PeerContainer server, PeerContainer client) {
    server.ask("send-long 1 " + MESSAGES + " " + SENT / MESSAGES);
    client.ask("drain 1 " + MESSAGES);
  }

  /** Returns the bytes of shared memory that the container is charged for. */
  private static long sharedMemory(PeerContainer container) {
    return Long.parseLong(container.ask("charged"));
  }
}
