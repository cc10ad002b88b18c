// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ferrule.Connection;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.posix.Posix;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A hostile user of the group that {@code access=group} admits. */
class HostileGroupMemberTest extends ProcessTest {

  private static final String ANOTHER_USER = "65534";

  /** In the endpoints of others, a member may write to sockets and FIFOs, and nothing else. */
  private static final String ATTACK =
      """
      cd "$1" || exit
      names=$(find . -mindepth 1) || exit
      for name in $names; do
        if [ -f "$name" ]; then : >>"$name" && echo "wrote to $name"; fi
        mkdir "$name/new" && echo "created $name/new"
        chmod 777 "$name" && echo "changed $name"
        mv -f "$name" moved && echo "moved $name"
        rm -rf "$name" && echo "removed $name"
      done 2>/dev/null

      mkdir -p 99/1/conns/1
      victim=$(dirname "$(find "$PWD" -name sock -print -quit)")
      ln -s "$victim/lock" "$victim/fifo" "$victim/sock" 99/1
      for fifo in $(find . -type p); do
        head -c 100000 /dev/urandom >"$fifo" && echo "noise for a FIFO"
      done
      perl -MIO::Socket::UNIX -e '
        for (@ARGV) {
          my $socket = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Peer => $_) or die "$_: $!";
          for (1 .. 2000) {
            $socket->send(join "", map { chr int rand 256 } 0 .. rand 64) or die "$_: $!";
          }
          print "noise for a socket\\n";
        }' $(find . -type s)
      """;

  @Test
  void aMemberCanNeitherChangeAnothersEndpointNorDisturbItsConnections() throws Exception {
    assumeTrue(Posix.geteuid() == 0, "acting as another user needs root");
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
    Path common = directory.resolve("common");
    try (Listener listener = Ferrule.listen(URI.create("sm://" + common + "?access=group"))) {
      URI address = URI.create(listener.uri() + "?access=group");
      CompletableFuture<Connection> connecting =
          CompletableFuture.supplyAsync(() -> Ferrule.connect(address));
      try (Connection accepted = listener.accept();
          Connection client = connecting.join()) {
        Path output = directory.resolve("output");
        Process member = attack(common, output);
        long messages = 0;
        do {
          roundTrip(client, accepted, messages++);
        } while (member.isAlive());

        assertThat(member.waitFor()).isZero();
        assertThat(Files.readAllLines(output))
            .containsOnly("noise for a FIFO", "noise for a socket")
            .hasSize(4); // of the listener and of the client
        roundTrip(client, accepted, messages);
      }
      CompletableFuture<Connection> another =
          CompletableFuture.supplyAsync(() -> Ferrule.connect(address));
      try (Connection accepted = listener.accept();
          Connection client = another.join()) {
        roundTrip(client, accepted, 1);
      }
    }
  }

  private static Process attack(Path common, Path output) throws IOException {
    return new ProcessBuilder(
            "setpriv",
            "--reuid=" + ANOTHER_USER,
            "--regid=" + Files.getAttribute(common, "unix:gid"),
            "--clear-groups",
            "bash",
            "-c",
            ATTACK,
            "attack",
            common.toString())
        .redirectErrorStream(true)
        .redirectOutput(output.toFile())
        .start();
  }

  private static void roundTrip(Connection client, Connection server, long value) {
    MemorySegment message = MemorySegment.ofArray(new long[] {value});
    client.sender().send(message);
    for (Connection each : new Connection[] {server, client}) {
      try (ReceiveRegion received = each.receiver().receive()) {
        assertThat(received.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, 0)).isEqualTo(value);
        if (each == server) {
          server.sender().send(received.segment());
        }
      }
    }
  }
}
