// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CommandHandshakeTest {

  @TempDir Path folder;
  private Listener listener;
  private final List<String> problems = new ArrayList<>();

  @BeforeEach
  void listen() {
    listener = Ferrule.listen(URI.create("sm://" + folder.resolve("app")));
  }

  @AfterEach
  void close() {
    listener.close();
  }

  @ParameterizedTest
  @EnumSource
  void bothSidesOfOnePurposeConnect(CommandHandshake handshake) throws Exception {
    Future<Optional<Connection>> accepted =
        answer(request -> handshake.accept(request, problems::add));
    try (Connection client = handshake.connect(listener.uri(), ConnectionOptions.defaults());
        Connection server = accepted.get().orElseThrow()) {
      client.sender().send(MemorySegment.ofArray(new byte[3]));
      assertThat(server.receiver().receive().length()).isEqualTo(3);
    }
    assertThat(problems).isEmpty();
    assertThat(handshake.payload().length).as("every provider takes that").isLessThanOrEqualTo(32);
  }

  @Test
  void aClientOfAnotherPurposeReportsTheListenersPurpose() throws Exception {
    Future<Optional<Connection>> accepted =
        answer(request -> CommandHandshake.STREAM.accept(request, problems::add));
    assertThatThrownBy(
            () -> CommandHandshake.BENCHMARK.connect(listener.uri(), ConnectionOptions.defaults()))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("the listener is 'ferrule listen'")
        .extracting(failure -> ((ToolException) failure).exitCode())
        .isEqualTo(ExitCode.NO_CONNECTION);
    assertThat(accepted.get()).isEmpty();
    assertThat(problems).hasSize(1).first().asString().contains(" rejected: ");
  }

  @Test
  void aClientOfAnotherVersionReportsBothVersions() throws Exception {
    byte[] newer = CommandHandshake.STREAM.payload();
    newer[newer.length - 1] = 9;
    rejectWith(newer);
    assertThatThrownBy(
            () -> CommandHandshake.STREAM.connect(listener.uri(), ConnectionOptions.defaults()))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("version 9")
        .hasMessageContaining("this command has version 1")
        .hasMessageContaining("same release");
  }

  @Test
  void aListenerOfAnUnknownPurposeIsReportedAsNewer() throws Exception {
    byte[] newer = CommandHandshake.STREAM.payload();
    newer[newer.length - 2] = 'Z';
    rejectWith(newer);
    assertThatThrownBy(
            () -> CommandHandshake.STREAM.connect(listener.uri(), ConnectionOptions.defaults()))
        .hasMessageContaining("newer release of ferrule");
  }

  @Test
  void aListenerThatRejectsForAnotherReasonIsReportedAsNotFerrule() throws Exception {
    rejectWith("no".getBytes());
    assertThatThrownBy(
            () -> CommandHandshake.STREAM.connect(listener.uri(), ConnectionOptions.defaults()))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("rejected: the listener is not 'ferrule listen'");
  }

  @Test
  void aListenerThatAcceptsEveryClientIsNotMistakenForFerrule() throws Exception {
    answer(request -> Optional.of(request.accept()));
    assertThatThrownBy(
            () -> CommandHandshake.STREAM.connect(listener.uri(), ConnectionOptions.defaults()))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("is not 'ferrule listen'");
  }

  private void rejectWith(byte[] payload) {
    answer(request -> {
      request.reject(payload);
      return Optional.empty();
    });
  }

  private Future<Optional<Connection>> answer(
      Function<ConnectionRequest, Optional<Connection>> answer) {
    return CompletableFuture.supplyAsync(() -> answer.apply(listener.nextRequest()));
  }
}
