// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.containers;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import org.junit.jupiter.api.Test;

/** Containers of different users, with or without a common group. */
class UsersTest extends ContainerTest {

  private static final int USER = 1_001;
  private static final int ANOTHER = 1_002;
  private static final int GROUP = 2_000;
  private static final int ANOTHER_GROUP = 3_000;
  private static final String ACCESS = "?access=group";

  @Test
  void differentUsersWithAGroupInCommonHaveAccessIfBothGrantIt() {
    SharedVolume volume = volume("64m");
    PeerContainer server = container(volume).user(USER, GROUP).start();
    PeerContainer client = container(volume).user(ANOTHER, GROUP).start();
    PeerContainer root = container(volume).user(0, GROUP).start();
    assertThat(client.ask("whoami")).isEqualTo("1 " + ANOTHER);

    server.ask("listen " + ADDRESS + ACCESS);
    connect(server, client, ADDRESS + ACCESS);
    exchangeMessages(server, client, 1);
    accessMemory(server, client, "mmap");
    server.send("accept");
    root.ask("connect " + ADDRESS + ACCESS);
    server.answer();
    root.ask("send 1 hello");
    assertThat(server.ask("receive 2")).isEqualTo("hello");

    // a user detects another user's death, and may then remove only its own files
    client.kill();
    assertThat(server.failureOf("receive 1")).startsWith("PeerLostException");
    assertThat(root.exit()).isZero();
    server.ask("unlisten");
    assertThat(server.exit()).isZero();
  }

  @Test
  void theMessageForAUserWithoutAccessNamesTheMissingPermission() {
    SharedVolume volume = volume("64m");
    PeerContainer server = container(volume).user(USER, GROUP).start();
    PeerContainer client = container(volume).user(ANOTHER, GROUP).start();
    PeerContainer stranger = container(volume).user(ANOTHER, ANOTHER_GROUP).start();
    PeerContainer root = container(volume).start();

    String closed = "sm://" + SHARED + "/closed";
    String endpoint = server.ask("listen " + closed);
    for (String address : new String[] {closed, endpoint, endpoint + ACCESS}) {
      assertThat(client.failureOf("connect " + address))
          .startsWith("ConnectionRefusedException")
          .contains("permission denied", SHARED + "/closed")
          .contains("as the same user", "access=group");
    }
    assertThat(root.failureOf("connect " + closed))
        .startsWith("ConnectionRefusedException")
        .contains(SHARED + "/closed", "is owned by user id " + USER, "access=group");
    server.ask("unlisten");

    server.ask("listen " + ADDRESS + ACCESS);
    assertThat(client.failureOf("connect " + ADDRESS))
        .contains("is owned by user id " + USER, "access=group");
    assertThat(stranger.failureOf("connect " + ADDRESS + ACCESS))
        .startsWith("ConnectionRefusedException")
        .contains("permission denied", BASE, "a common group");
    // root may open every file; the server may not open root's, and so does not answer
    assertThat(root.failureOf("connect " + ADDRESS + ACCESS + "&connectTimeout=200ms"))
        .startsWith("OperationTimeoutException")
        .contains("runs as user id " + USER, "must be in the group of " + BASE);
  }

  @Test
  void aMemberThatMisusesTheHandshakeDisturbsNoOtherClient() {
    SharedVolume volume = volume("64m");
    PeerContainer server = container(volume).user(USER, GROUP).start();
    PeerContainer client = container(volume).user(USER, GROUP).start();
    PeerContainer member = container(volume).user(ANOTHER, GROUP).start();
    URI listener = URI.create(server.ask("listen " + ADDRESS + ACCESS).split("\\?", 2)[0]);
    server.ask("begin serve");

    member.ask("begin attack " + listener + ACCESS + " 200");
    client.ask("visit " + listener + ACCESS + " 100");
    assertThat(member.ask("finish")).isEqualTo(PeerProgram.OK + "100");
    client.ask("visit " + listener + ACCESS + " 1");
  }
}
