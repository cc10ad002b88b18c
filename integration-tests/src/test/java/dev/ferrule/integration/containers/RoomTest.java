// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.containers;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Shared memory is not in a file system, so containers need almost no space in one. */
class RoomTest extends ContainerTest {

  private static final String SHM = "/dev/shm";

  @Test
  void aVolumeSmallerThanTheSharedMemorySuffices() {
    SharedVolume volume = volume("64k");
    PeerContainer server = container(volume).start();
    PeerContainer client = container(volume).start();

    server.ask("listen " + ADDRESS);
    connect(server, client, ADDRESS);
    exchangeMessages(server, client, 1);
    accessMemory(server, client, "mmap"); // its buffer is allocated on first use
    client.ask("close 1");
    server.ask("close 1");

    server.ask("unlisten");
    assertThat(server.ask("files " + SHARED)).isEmpty();
    assertThat(client.exit()).isZero();
    assertThat(server.exit()).isZero();
  }

  @Test
  void aContainersDefaultShmSufficesForMoreSharedMemoryThanItsSize() {
    PeerContainer server = container().shareable().start();
    PeerContainer client = container().shmOf(server).start();
    assertThat(server.ask("room " + SHM)).isEqualTo("tmpfs " + (64 << 20));

    String address = "sm://" + SHM + "/app?maxMessage=16MiB";
    server.ask("listen " + address);
    connect(server, client, address);
    exchangeMessages(server, client, 1);
    assertThat(client.exit()).isZero();
    assertThat(server.exit()).isZero();
  }
}
