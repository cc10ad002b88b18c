// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.lab.model.Processors;
import dev.ferrule.tools.bench.RunningServer;
import dev.ferrule.tools.support.CommandHandshake;
import dev.ferrule.tools.support.ToolException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A point whose server does not answer fails, with the reason, and the next one is measured. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WorkbenchTest {

  private static final Effort LITTLE = new Effort(true, 1, OptionalLong.of(10));
  private static final Duration PATIENCE = Duration.ofMillis(200);

  @TempDir private Path folder;

  private final AtomicInteger started = new AtomicInteger();

  /** A server that accepts clients but does not answer, as its thread has died. */
  private final class SilentServer implements RunningServer {
    private final Listener listener;
    private final Consumer<String> errors;
    private final List<Connection> clients = new CopyOnWriteArrayList<>();

    private SilentServer(Consumer<String> errors) {
      this.errors = errors;
      listener =
          Ferrule.listen(URI.create("sm://" + folder.resolve("app" + started.incrementAndGet())));
      Thread.ofPlatform().daemon().start(this::accept);
    }

    private void accept() {
      try {
        while (true) {
          CommandHandshake.BENCHMARK
              .accept(listener.nextRequest(), problem -> {})
              .ifPresent(clients::add);
        }
      } catch (ConnectionClosedException e) {
        return;
      }
    }

    @Override
    public URI uri() {
      return listener.uri();
    }

    @Override
    public void close() {
      errors.accept("ferrule: the thread has failed");
      listener.close();
      clients.forEach(Connection::close);
    }
  }

  private static Point point(Point.Kind kind, int connections) {
    return new Point(
        "experiment",
        "sm",
        kind,
        64,
        connections,
        connections,
        16,
        1,
        0,
        kind == Point.Kind.LATENCY ? "spin" : "block",
        Map.of(),
        Map.of(),
        Processors.ofOneHost(2));
  }

  @ParameterizedTest
  @EnumSource(Point.Kind.class)
  void aPointWhoseServerDoesNotAnswerFailsWithTheServersError(Point.Kind kind) {
    CopyOnWriteArrayList<String> problems = new CopyOnWriteArrayList<>();
    try (Workbench bench =
        new Workbench(
            LITTLE,
            (provider, settings, errors) -> new SilentServer(errors),
            problems::add,
            PATIENCE)) {
      Point point = point(kind, kind == Point.Kind.BANDWIDTH ? 2 : 1);
      for (int i = 1; i <= 2; i++) {
        assertThatThrownBy(() -> bench.measure(point))
            .isInstanceOf(ToolException.class)
            .hasMessageContaining("no progress for ")
            .hasMessageEndingWith("; server: the thread has failed");
        assertThat(started).as("each time with a new server").hasValue(i);
      }
    }
    assertThat(problems).contains("server: ferrule: the thread has failed");
  }
}
