// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.WaitStrategy;
import dev.ferrule.tools.support.ToolException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rounds that the client ends by a message, served by a thread per client or by one for all. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RoundsUntilEndTest {

  private static final int SIZE = 24;

  @TempDir private Path folder;

  private final BlockingQueue<String> problems = new LinkedBlockingQueue<>();
  private LocalServer server;

  private void serve(boolean single) {
    ServerLimits limits = new ServerLimits(1 << 20, true);
    server = LocalServer.start(folder, limits, single, UnaryOperator.identity(), problems::add);
  }

  @AfterEach
  void stop() throws InterruptedException {
    server.stop();
  }

  private static void begin(Connection connection, Round.Kind kind, int size) {
    new Round(kind, Round.UNTIL_END, size, true, 0).send(connection.sender());
  }

  private static void send(Connection connection, int size, long number) {
    try (Arena arena = Arena.ofConfined()) {
      MessageContent content = new MessageContent(arena, size);
      content.number(number);
      connection.sender().send(content.bytes(), 0, size);
    }
  }

  private static void end(Connection connection, int size) {
    Round.sendEnd(connection.sender(), size);
  }

  private static RoundReply reply(Connection connection) {
    return new BenchClient(connection, WaitStrategy.BLOCK).awaitReply();
  }

  private static int receivedLength(Connection connection) {
    try (ReceiveRegion message = connection.receiver().receive()) {
      return message.length();
    }
  }

  /** The next message starts a round. */
  private static void assertBetweenRounds(Connection connection) {
    Round.of(Round.Kind.SINK, 0, SIZE).send(connection.sender());
    assertThat(reply(connection)).isEqualTo(new RoundReply(true, 0, 0, 0));
  }

  @ParameterizedTest
  @CsvSource({"false, 0", "false, 1", "false, 2", "false, 24", "true, 0", "true, 1", "true, 24"})
  void allMessagesAreEchoedAndAtLastTheEnd(boolean single, int size) {
    serve(single);
    try (Connection connection = server.connect()) {
      for (int messages = 0; messages < 3; messages++) {
        begin(connection, Round.Kind.ECHO, size);
        for (int i = 0; i < messages; i++) {
          send(connection, size, i);
          assertThat(receivedLength(connection)).isEqualTo(size);
        }
        end(connection, size);
        assertThat(receivedLength(connection)).isNotEqualTo(size);
        assertBetweenRounds(connection);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"false, 0", "false, 1", "false, 2", "false, 24", "true, 0", "true, 1", "true, 24"})
  void allMessagesBeforeTheEndAreCounted(boolean single, int size) {
    serve(single);
    try (Connection connection = server.connect()) {
      for (int messages = 0; messages < 3; messages++) {
        begin(connection, Round.Kind.SINK, size);
        for (int i = 0; i < messages; i++) {
          send(connection, size, i);
        }
        end(connection, size);
        assertThat(reply(connection))
            .isEqualTo(new RoundReply(true, messages, (long) messages * size, 0));
        assertBetweenRounds(connection);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWrongMessageIsCountedAndDoesNotEndTheRound(boolean single) {
    serve(single);
    try (Connection connection = server.connect()) {
      begin(connection, Round.Kind.SINK, SIZE);
      send(connection, SIZE, 0);
      send(connection, SIZE, 7);
      send(connection, SIZE - 1, 2);
      send(connection, SIZE, 3);
      end(connection, SIZE);
      assertThat(reply(connection)).isEqualTo(new RoundReply(true, 4, 4L * SIZE - 1, 2));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aMessageAfterTheEndIsRefused(boolean single) throws Exception {
    serve(single);
    try (Connection connection = server.connect()) {
      begin(connection, Round.Kind.SINK, SIZE);
      send(connection, SIZE, 0);
      end(connection, SIZE);
      send(connection, SIZE, 1);
      assertThatThrownBy(
              () -> {
                RoundReply reply = reply(connection); // the end may be received before that message
                assertThat(reply).isEqualTo(new RoundReply(true, 1, SIZE, 0));
                reply(connection);
              })
          .isInstanceOf(ToolException.class)
          .hasMessageContaining("the server refused the round: protocol violation");
      assertThat(problems.take()).contains("protocol violation");
    }
  }

  @ParameterizedTest
  @CsvSource({"false, ECHO", "false, SINK", "true, ECHO"})
  void aClientThatClosesWithinARoundIsReportedAndOthersAreServed(boolean single, Round.Kind kind)
      throws Exception {
    serve(single);
    try (Connection other = server.connect()) {
      try (Connection connection = server.connect()) {
        begin(connection, kind, SIZE);
        send(connection, SIZE, 0);
        if (kind == Round.Kind.ECHO) { // a common receiver may see the close before the round
          assertThat(receivedLength(connection)).isEqualTo(SIZE);
        }
      }
      assertThat(problems.take()).contains("closed");
      assertBetweenRounds(other);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void pausesAreRefusedSinceTheirSumHasNoLimit(boolean single) {
    serve(single);
    try (Connection connection = server.connect()) {
      new Round(Round.Kind.SINK, Round.UNTIL_END, SIZE, false, 1).send(connection.sender());
      assertThatThrownBy(() -> reply(connection)).hasMessageContaining("exceed the limit of");
      assertThatThrownBy(() -> connection.receiver().receive().close())
          .isInstanceOf(EndOfStreamException.class);
    }
  }
}
