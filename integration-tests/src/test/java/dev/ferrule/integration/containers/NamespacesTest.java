// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.containers;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.dockerjava.api.model.Capability;
import org.junit.jupiter.api.Test;

/**
 * Namespaces that containers share besides a volume, and the resulting paths of remote memory
 * access.
 */
class NamespacesTest extends ContainerTest {

  /** The default profile of Docker up to 20.10. */
  private static final String WITHOUT_CROSS_MEMORY =
      "{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[{\"names\":[\"process_vm_readv\","
          + "\"process_vm_writev\"],\"action\":\"SCMP_ACT_ERRNO\"}]}";

  private static void closeAndSeeThatNothingIsLeft(PeerContainer server, PeerContainer client) {
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
    // with the permission for the kernel's path, each process finds itself at the peer's pid
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
