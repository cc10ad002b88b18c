// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.containers;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.dockerjava.api.model.Capability;
import org.junit.jupiter.api.Test;

/** What containers have in common besides a volume, and what becomes of remote memory access. */
class NamespacesTest extends ContainerTest {

  /** What engines before Docker 23 do by themselves. */
  private static final String WITHOUT_CROSS_MEMORY =
      "{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[{\"names\":[\"process_vm_readv\","
          + "\"process_vm_writev\"],\"action\":\"SCMP_ACT_ERRNO\"}]}";

  /** Has each side read and write the other's memory, and returns by which way. */
  private static void accessMemory(PeerContainer one, PeerContainer other, String path) {
    one.tell("share 1");
    other.ask("share 1");
    one.answer();
    assertThat(one.ask("path 1")).isEqualTo(path);
    assertThat(other.ask("path 1")).isEqualTo(path);

    assertThat(one.ask("read 1")).as("read").isEqualTo(other.ask("memory 1"));
    assertThat(other.ask("read 1")).as("read").isEqualTo(one.ask("memory 1"));
    assertThat(one.ask("write 1")).as("written").isEqualTo(other.ask("memory 1"));
    assertThat(other.ask("write 1")).as("written").isEqualTo(one.ask("memory 1"));
    assertThat(one.ask("path 1")).as("the way, still").isEqualTo(path);
  }

  private static void closeAndSeeThatNothingIsLeft(PeerContainer server, PeerContainer client) {
    client.ask("close 1");
    server.ask("close 1");
    server.ask("unlisten");
    assertThat(server.ask("files " + SHARED)).isEmpty();
    assertThat(client.exit()).isZero();
    assertThat(server.exit()).isZero();
  }

  @Test
  void containersThatShareAVolumeAndAreBothProcess1ExchangeMessagesAndMemory() {
    SharedVolume volume = volume("64m");
    PeerContainer server = container(volume).start();
    PeerContainer client = container(volume).start();
    assertThat(server.ask("whoami")).isEqualTo("1 0");
    assertThat(client.ask("whoami")).isEqualTo("1 0");

    assertThat(server.ask("listen " + ADDRESS)).isEqualTo(ADDRESS + "/1/1");
    connect(server, client, ADDRESS);
    exchangeMessages(server, client, 1);
    accessMemory(server, client, "mmap");

    closeAndSeeThatNothingIsLeft(server, client);
  }

  @Test
  void memoryIsAccessedByTheKernelInACommonPidNamespaceIfThatIsPermitted() {
    SharedVolume volume = volume("64m");
    PeerContainer server = container(volume).capability(Capability.SYS_PTRACE).start();
    PeerContainer client =
        container(volume).pidOf(server).capability(Capability.SYS_PTRACE).start();
    assertThat(client.ask("whoami")).isNotEqualTo("1 0").endsWith(" 0");

    server.ask("listen " + ADDRESS);
    connect(server, client, ADDRESS);
    exchangeMessages(server, client, 1);
    accessMemory(server, client, "cma");

    closeAndSeeThatNothingIsLeft(server, client);
  }

  @Test
  void memoryIsAccessedThroughTheVolumeIfTheEngineRefusesTheKernelsWay() {
    SharedVolume volume = volume("64m");
    PeerContainer server = container(volume).seccomp(WITHOUT_CROSS_MEMORY).start();
    PeerContainer client = container(volume).pidOf(server).seccomp(WITHOUT_CROSS_MEMORY).start();

    server.ask("listen " + ADDRESS);
    connect(server, client, ADDRESS);
    accessMemory(server, client, "mmap");
    server.tell("accept");
    client.ask("connect " + ADDRESS + "?rma=cma");
    server.answer();
    assertThat(client.failureOf("path 2"))
        .contains("rma=cma is not possible here")
        .contains("process_vm_readv: Operation not permitted")
        .contains("leave it out");
    exchangeMessages(server, client, 2);
  }
}
