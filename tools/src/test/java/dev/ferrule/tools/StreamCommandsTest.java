// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Connection;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StreamCommandsTest {

  private static final int LARGE_BYTES = 16 << 20;

  @TempDir Path folder;
  private String address = "";
  private Path copy = Path.of("");

  @BeforeEach
  void chooseAnAddress() {
    address = "sm://" + folder.resolve("app");
    copy = folder.resolve("copy");
  }

  @Test
  void aFileArrivesWithTheSameHash() throws Exception {
    Path original = randomFile(LARGE_BYTES);
    try (FerruleProcess listener = FerruleProcess.startInto(copy, "listen", address);
        FerruleProcess sender =
            FerruleProcess.start(folder, "send", "--retry", "90s", address, original.toString())) {
      sender.mustEndWith(0);
      listener.mustEndWith(0);
      assertThat(sender.errors()).isEmpty();
      assertThat(listener.errors()).startsWith("listening on " + address).hasLineCount(1);
    }
    assertThat(sha256(copy)).isEqualTo(sha256(original));
    assertNothingIsLeft();
  }

  @Test
  void aClientThatAnnouncesTooMuchMemoryIsRefusedAndTheNextOneIsServed() throws Exception {
    Path original = Files.writeString(folder.resolve("little"), "little");
    try (FerruleProcess listener = FerruleProcess.startInto(copy, "listen", address)) {
      Run refused =
          Run.of("send", "--retry", "90s", "-o", "allocatable=1TiB", address, original.toString());
      assertThat(refused.exitCode()).isEqualTo(5);
      assertThat(refused.err()).contains("raise the listener's maxPeerMemory and maxMapped");
      assertThat(Run.of("send", address, original.toString()).exitCode()).isZero();
      listener.mustEndWith(0);
    }
    assertThat(copy).hasSameTextualContentAs(original);
  }

  @Test
  void eachCommandWarnsInOneLineOfADirectoryThatAllUsersMayWrite() throws Exception {
    Path open = Files.createDirectory(folder.resolve("open"));
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
    String there = "sm://" + open.resolve("app");
    String warning = "ferrule: " + open.toRealPath() + " is writable by all users and has no ";
    Path original = Files.writeString(folder.resolve("little"), "little");
    try (FerruleProcess listener = FerruleProcess.startInto(copy, "listen", "-q", there);
        FerruleProcess sender =
            FerruleProcess.start(folder, "send", "--retry", "90s", there, original.toString())) {
      sender.mustEndWith(0);
      listener.mustEndWith(0);
      assertThat(sender.errors()).startsWith(warning).hasLineCount(1);
      assertThat(listener.errors()).startsWith(warning).hasLineCount(1);
    }
  }

  @Test
  void standardInputArrivesWithTheSameHash() throws Exception {
    Path original = randomFile(LARGE_BYTES + 12345);
    try (FerruleProcess listener = FerruleProcess.startInto(copy, "listen", address);
        FerruleProcess sender =
            FerruleProcess.startFrom(original, "send", "--retry", "90s", address)) {
      sender.mustEndWith(0);
      listener.mustEndWith(0);
    }
    assertThat(sha256(copy)).isEqualTo(sha256(original));
  }

  @Test
  void closedStandardInputIsReported() throws Exception {
    try (FerruleProcess sender = FerruleProcess.startRedirected(folder, "<&-", "send", address)) {
      assertThat(sender.mustEndWith(1).errors()).contains("standard input is closed");
    }
  }

  @Test
  void smallWritesToAPipeArriveAtOnce() throws Exception {
    try (FerruleProcess listener = FerruleProcess.start(folder, "listen", "-q", address);
        FerruleProcess sender =
            FerruleProcess.start(folder, "send", "--retry", "90s", address, "-")) {
      OutputStream input = sender.process().getOutputStream();
      for (String line : new String[] {"one", "two", "three"}) {
        input.write((line + "\n").getBytes());
        input.flush();
        assertThat(listener.output().readLine()).isEqualTo(line);
      }
      input.close();
      sender.mustEndWith(0);
      listener.mustEndWith(0);
    }
  }

  @Test
  void anEmptyFileArrivesAsAnEmptyFile() throws Exception {
    Path original = randomFile(0);
    try (FerruleProcess listener = FerruleProcess.startInto(copy, "listen", address)) {
      Run sender = Run.of("send", "--retry", "90s", address, original.toString());
      assertThat(sender.exitCode()).as(sender.err()).isZero();
      listener.mustEndWith(0);
    }
    assertThat(copy).isEmptyFile();
  }

  @Test
  void aSenderThatIsKilledInTheMiddleMakesTheListenerFail() throws Exception {
    try (FerruleProcess listener = FerruleProcess.start(folder, "listen", "-q", address);
        FerruleProcess sender = FerruleProcess.start(folder, "send", "--retry", "90s", address)) {
      sender.process().getOutputStream().write("half\n".getBytes());
      sender.process().getOutputStream().flush();
      assertThat(listener.output().readLine()).isEqualTo("half");
      sender.kill();
      listener.mustEndWith(4);
      assertThat(listener.errors()).startsWith("ferrule: " + address).hasLineCount(1);
    }
  }

  @Test
  void aSenderThatWaitsForInputFailsIfTheListenerIsKilled() throws Exception {
    try (FerruleProcess listener = FerruleProcess.start(folder, "listen", "-q", address);
        FerruleProcess sender = FerruleProcess.start(folder, "send", "--retry", "90s", address)) {
      sender.process().getOutputStream().write("half\n".getBytes());
      sender.process().getOutputStream().flush();
      assertThat(listener.output().readLine()).isEqualTo("half");
      listener.kill();
      sender.mustEndWith(4);
      assertThat(sender.errors()).startsWith("ferrule: " + address).hasLineCount(1);
    }
  }

  @Test
  void aTerminatedSenderEndsCleanlyAndTheListenerReportsAnIncompleteStream() throws Exception {
    try (FerruleProcess listener = FerruleProcess.start(folder, "listen", "-q", address);
        FerruleProcess sender = FerruleProcess.start(folder, "send", "--retry", "90s", address)) {
      sender.process().getOutputStream().write("half\n".getBytes());
      sender.process().getOutputStream().flush();
      assertThat(listener.output().readLine()).isEqualTo("half");
      sender.terminate();
      sender.mustEndWith(143);
      assertThat(sender.errors()).isEmpty();
      listener.mustEndWith(4);
      assertThat(listener.errors())
          .contains("incomplete stream: the sender closed the connection after 5 bytes")
          .hasLineCount(1);
    }
    assertNothingIsLeft();
  }

  @Test
  void aListenerWhoseOutputIsNotReadFailsAndSoDoesTheSender() throws Exception {
    Path original = randomFile(LARGE_BYTES);
    try (FerruleProcess listener = FerruleProcess.start(folder, "listen", "-q", address)) {
      listener.output().close(); // as "| head" does
      try (FerruleProcess sender =
          FerruleProcess.start(folder, "send", "--retry", "90s", address, original.toString())) {
        sender.mustEndWith(4);
        listener.mustEndWith(1);
        assertThat(listener.errors())
            .startsWith("ferrule: cannot write to standard output")
            .hasLineCount(1);
        assertThat(sender.errors()).contains("before it had received the whole").hasLineCount(1);
      }
    }
  }

  @Test
  void aListenerWithKeepReceivesOneStreamAfterAnother() throws Exception {
    Path original = randomFile(1_000_000);
    try (FerruleProcess listener = FerruleProcess.startInto(copy, "listen", "--keep", address)) {
      for (int i = 0; i < 3; i++) {
        Run sender = Run.of("send", "--retry", "90s", address, original.toString());
        assertThat(sender.exitCode()).as(sender.err()).isZero();
      }
      try (FerruleProcess broken = FerruleProcess.start(folder, "send", address)) {
        broken.process().getOutputStream().write(1);
        broken.process().getOutputStream().flush();
        while (Files.size(copy) == 3_000_000) {
          Thread.onSpinWait();
        }
      }
      assertThat(Run.of("send", address, original.toString()).exitCode()).isZero();
      listener.terminate();
      listener.mustEndWith(143);
    }
    assertThat(copy).hasSize(4_000_001);
    assertNothingIsLeft();
  }

  @Test
  void aListenerWithKeepThatIsTerminatedReportsNothing() throws Exception {
    try (FerruleProcess listener = FerruleProcess.start(folder, "listen", "-q", "--keep", address);
        FerruleProcess sender = FerruleProcess.start(folder, "send", "--retry", "90s", address)) {
      sender.process().getOutputStream().write("half\n".getBytes());
      sender.process().getOutputStream().flush();
      assertThat(listener.output().readLine()).isEqualTo("half");
      listener.terminate();
      assertThat(listener.mustEndWith(143).errors()).isEmpty();
    }
  }

  @Test
  void aSenderReportsAListenerOfAnotherPurpose() throws Exception {
    Path original = randomFile(1);
    try (FerruleProcess server = FerruleProcess.start(folder, "serve", address)) {
      assertThat(server.output().readLine()).startsWith(address);
      Run run = Run.of("send", address, original.toString());
      assertThat(run.exitCode()).isEqualTo(3);
      assertThat(run.err()).contains("the listener is 'ferrule serve'").hasLineCount(1);
    }
  }

  @Test
  void aSenderReportsAListenerThatIsNotAFerruleCommand() throws Exception {
    Path original = randomFile(1);
    try (Listener listener = Ferrule.listen(URI.create(address))) {
      CompletableFuture<Run> run =
          CompletableFuture.supplyAsync(() -> Run.of("send", address, original.toString()));
      try (Connection connection = listener.accept()) {
        assertThat(connection.uri()).isNotNull();
        assertThat(run.get().exitCode()).isEqualTo(3);
        assertThat(run.get().err()).contains("is not 'ferrule listen'").hasLineCount(1);
      }
    }
  }

  @Test
  void aClientThatIsNotASenderIsRejectedAndTheListenerContinuesToWait() throws Exception {
    Path original = randomFile(10);
    try (FerruleProcess listener = FerruleProcess.startInto(copy, "listen", address)) {
      while (!listener.errors().startsWith("listening")) {
        Thread.onSpinWait();
      }
      Run latency = Run.of("latency", address);
      assertThat(latency.exitCode()).isEqualTo(3);
      assertThat(latency.err()).contains("the listener is 'ferrule listen'").hasLineCount(1);
      assertThat(Run.of("send", address, original.toString()).exitCode()).isZero();
      listener.mustEndWith(0);
      assertThat(listener.errors()).contains("rejected: not a client of 'ferrule listen'");
    }
    assertThat(copy).hasSameBinaryContentAs(original);
  }

  @Test
  void anAddressInUseIsReportedInOneLine() throws Exception {
    try (Listener listener = Ferrule.listen(URI.create(address))) {
      Run run = Run.of("listen", listener.uri().toString());
      assertThat(run.exitCode()).isIn(2, 5);
      assertThat(run.err()).startsWith("ferrule: " + address).hasLineCount(1);
    }
  }

  private Path randomFile(int bytes) throws IOException {
    byte[] content = new byte[bytes];
    new Random(bytes).nextBytes(content);
    return Files.write(folder.resolve("original"), content);
  }

  private static String sha256(Path file) throws Exception {
    return HexFormat.of()
        .formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file)));
  }

  /** Asserts that nothing but the directory of the address remains. */
  private void assertNothingIsLeft() throws IOException {
    Path directory = folder.resolve("app");
    if (Files.exists(directory)) {
      try (Stream<Path> left = Files.list(directory)) {
        assertThat(left).isEmpty();
      }
    }
  }
}
