// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.containers;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** How much memory containers share, and what is said when it is too little. */
class RoomTest extends ContainerTest {

  private static final String LITTLE = "?slots=64&maxMessage=2000";
  private static final String SHM = "/dev/shm";

  @Test
  void aVolumeThatIsTooSmallIsAnErrorWhenConnectingWhicheverSideLacksRoom() {
    SharedVolume volume = volume("1m");
    PeerContainer server = container(volume).start();
    PeerContainer client = container(volume).start();
    server.ask("listen " + ADDRESS + LITTLE);

    assertThat(client.failureOf("connect " + ADDRESS))
        .startsWith("ResourceExhaustedException")
        .contains(BASE, "No space left", "the tmpfs at /shared has 1024 KiB")
        .contains("enlarge", "size=", "maxMessage");

    connect(server, client, ADDRESS + LITTLE);
    // made when it is first needed, and too large for the rest
    server.tell("share 1");
    client.ask("share 1");
    server.answer();
    assertThat(client.failureOf("write 1"))
        .startsWith("ResourceExhaustedException")
        .contains("the tmpfs at /shared has 1024 KiB", "rmaBuffer");
    exchangeMessages(server, client, 1);
    client.ask("close 1");
    server.ask("close 1");

    server.ask("unlisten");
    server.ask("listen " + ADDRESS);
    server.tell("accept");
    assertThat(client.failureOf("connect " + ADDRESS + LITTLE))
        .startsWith("ResourceExhaustedException")
        .contains(
            "the listener's side has no room", "the tmpfs at /shared has 1024 KiB", "enlarge");
    assertThat(server.failure()).startsWith("ResourceExhaustedException").contains("1024 KiB");

    server.ask("unlisten");
    assertThat(server.ask("files " + SHARED)).isEmpty();
    assertThat(client.exit()).isZero();
    assertThat(server.exit()).isZero();
  }

  @Test
  void whatAContainersShmHasByItselfDoesForTheDefaultOptionsAndNotForMessagesOfAnyLength() {
    PeerContainer server = container().shareable().start();
    PeerContainer client = container().shmOf(server).start();
    assertThat(server.ask("room " + SHM)).isEqualTo("tmpfs " + (64 << 20));

    String address = "sm://" + SHM + "/app";
    server.ask("listen " + address);
    connect(server, client, address);
    exchangeMessages(server, client, 1);

    assertThat(client.failureOf("connect " + address + "?maxMessage=32MiB"))
        .startsWith("ResourceExhaustedException")
        .contains("the tmpfs at /dev/shm has 64 MiB", "--shm-size");
    exchangeMessages(server, client, 1);
    assertThat(client.exit()).isZero();
    assertThat(server.exit()).isZero();
  }
}
