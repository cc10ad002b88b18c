// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.containers;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Containers that end without closing their connections, and those that replace them. */
class LossTest extends ContainerTest {

  /** Disables the peer timeout, so that the loss of a peer must be detected in another way. */
  private static final String FOREVER = "?peerTimeout=0";

  private static final String LOST = "PeerLostException";

  @Test
  void aContainerThatIsKilledEndsOnlyItsOwnConnections() {
    SharedVolume volume = volume("64m");
    PeerContainer server = container(volume).start();
    PeerContainer victim = container(volume).start();
    PeerContainer bystander = container(volume).start();
    server.ask("listen " + ADDRESS + FOREVER);
    connect(server, bystander, ADDRESS + FOREVER);
    connect(server, victim, ADDRESS + FOREVER);
    connect(server, victim, ADDRESS + FOREVER);

    // one of the victim's connections is full towards the server, the other towards the victim
    victim.send("flood 1");
    server.ask("begin flood 3");
    server.ask("stalled 3");
    server.ask("drain 2 1000");
    victim.kill();

    assertThat(server.failureOf("drain 2 " + Long.MAX_VALUE)).startsWith(LOST);
    assertThat(server.ask("finish")).startsWith(PeerProgram.FAILED + LOST);
    exchangeMessages(server, bystander, 1);
    assertThat(bystander.exit()).isZero();
    assertThat(server.exit()).isZero();
  }

  @Test
  void aClientWhoseContainerIsRestartedIsANewClientOfTheSameName() {
    SharedVolume volume = volume("64m");
    PeerContainer server = container(volume).start();
    PeerContainer client = container(volume).start();
    server.ask("listen " + ADDRESS + FOREVER);
    connect(server, client, ADDRESS + FOREVER);
    String filesOfTheClient = filesOfTheClient(client);

    client.kill();
    client.restart();
    // for the server, both are endpoint 1/2
    connect(server, client, ADDRESS + FOREVER);
    assertThat(filesOfTheClient(client)).isEqualTo(filesOfTheClient);
    assertThat(server.failureOf("receive 1")).startsWith(LOST);
    server.ask("send 2 new");
    assertThat(client.ask("receive 1")).isEqualTo("new");

    client.ask("close 1");
    server.ask("close 1");
    server.ask("close 2");
    server.ask("unlisten");
    assertThat(server.ask("files " + SHARED)).isEmpty();
  }

  /** Returns the names of a client's files, with N for the numbers of connections, which differ. */
  private static String filesOfTheClient(PeerContainer client) {
    String files = client.ask("files " + BASE);
    return files.substring(files.indexOf(" 1/2 ")).replaceAll("conns/[0-9]+", "conns/N");
  }

  @Test
  void aListenerWhoseContainerIsRestartedAtTheSamePathIsANewPeer() {
    SharedVolume volume = volume("64m");
    PeerContainer server = container(volume).start();
    PeerContainer client = container(volume).start();
    String endpoint = server.ask("listen " + ADDRESS + FOREVER);
    connect(server, client, endpoint + FOREVER);
    client.send("receive 1");
    server.ask("send 1 old");
    assertThat(client.answer()).isEqualTo("old");

    client.send("receive 1");
    server.kill();
    assertThat(client.failure()).startsWith(LOST);
    assertThat(client.failureOf("connect " + endpoint))
        .startsWith("ConnectionRefusedException")
        .contains("no listener at ");

    server.restart();
    assertThat(server.ask("listen " + ADDRESS + FOREVER)).isEqualTo(endpoint);
    connect(server, client, endpoint + FOREVER);
    server.ask("send 1 new");
    assertThat(client.failureOf("receive 1")).startsWith(LOST);
    assertThat(client.failureOf("send 1 lost")).startsWith(LOST);
    assertThat(client.ask("receive 2")).isEqualTo("new");
    server.send("exchange 1");
    client.send("exchange 2");
    Traffic.Report atServer = Traffic.Report.parse(server.answer());
    atServer.assertIsWhatTheOtherSideSaw(Traffic.Report.parse(client.answer()));

    client.ask("close 1");
    client.ask("close 2");
    server.ask("close 1");
    server.ask("unlisten");
    assertThat(client.ask("files " + SHARED)).isEmpty();
    assertThat(client.exit()).isZero();
    assertThat(server.exit()).isZero();
  }
}
