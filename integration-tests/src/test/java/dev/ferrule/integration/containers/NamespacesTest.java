// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.containers;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.dockerjava.api.model.Capability;
import org.junit.jupiter.api.Test;

/**
 * The paths of remote memory access between containers that share a volume, with and without a
 * common PID namespace.
 */
class NamespacesTest extends ContainerTest {

  /** Refuses the calls of cross-memory attach, as Docker's default profile does up to 20.10. */
  private static final String WITHOUT_CROSS_MEMORY =
      "{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[{\"names\":[\"process_vm_readv\","
          + "\"process_vm_writev\"],\"action\":\"SCMP_ACT_ERRNO\"}]}";

  private static void closeAndCheckThatNothingIsLeft(PeerContainer server, PeerContainer client) {
    client.ask("close 1");
    server.ask("close 1");
    server.ask("unlisten");
    assertThat(server.ask("files " + SHARED)).isEmpty();
    assertThat(client.exit()).isZero();
    assertThat(server.exit()).isZero();
  }

  @Test
  void containersThatShareAVolumeAndAreBothPid1ExchangeMessagesAndMemory() {
    SharedVolume volume = volume("64m");
    // the kernel permits the copy, but the peer's process id, 1, is also that of the caller itself
    PeerContainer server = container(volume).capability(Capability.SYS_PTRACE).start();
    PeerContainer client = container(volume).capability(Capability.SYS_PTRACE).start();
    assertThat(server.ask("whoami")).isEqualTo("1 0");
    assertThat(client.ask("whoami")).isEqualTo("1 0");

    assertThat(server.ask("listen " + ADDRESS)).isEqualTo(ADDRESS + "/1/1");
    connect(server, client, ADDRESS);
    exchangeMessages(server, client, 1);
    accessMemory(server, client, "mmap");
    server.send("accept");
    client.ask("connect " + ADDRESS + "?rma=cma");
    server.answer();
    assertThat(client.failureOf("path 2"))
        .contains("option rma=cma does not work here", "PID namespace", "--pid=container:");
    client.ask("close 2");
    server.ask("close 2");

    closeAndCheckThatNothingIsLeft(server, client);
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

    closeAndCheckThatNothingIsLeft(server, client);
  }

  @Test
  void memoryIsAccessedThroughTheVolumeIfTheEngineRefusesTheKernelsPath() {
    SharedVolume volume = volume("64m");
    PeerContainer server = container(volume).seccomp(WITHOUT_CROSS_MEMORY).start();
    PeerContainer client = container(volume).pidOf(server).seccomp(WITHOUT_CROSS_MEMORY).start();

    server.ask("listen " + ADDRESS);
    connect(server, client, ADDRESS);
    accessMemory(server, client, "mmap");
    server.send("accept");
    client.ask("connect " + ADDRESS + "?rma=cma");
    server.answer();
    assertThat(client.failureOf("path 2"))
        .contains("option rma=cma does not work here", "process_vm_readv: Operation not permitted")
        .contains("SYS_PTRACE", "use rma=auto");
    exchangeMessages(server, client, 2);
  }
}
