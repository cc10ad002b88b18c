// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers.match;

import dev.ferrule.peers.transport.Contender;
import dev.ferrule.tools.bench.FreshAddress;
import dev.ferrule.tools.support.ChildProcess;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Guarded;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.Consumer;

/**
 * A contender of this JVM's, in two processes of its own.
 *
 * @param contender the way of carrying messages
 */
public record JavaEntrant(Contender contender) implements Entrant {

  private static final Duration START_TIMEOUT = Duration.ofSeconds(30);
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(120);

  @Override
  public String name() {
    return contender.name();
  }

  @Override
  public String version() {
    return contender.version();
  }

  @Override
  public boolean hasRate() {
    return contender.hasRate();
  }

  @Override
  public Match start(Consumer<String> problems) {
    Guarded<Directory> directory = Guarded.of(Directory.fresh());
    try {
      Guarded<ChildProcess> server = side(Side.SERVE, directory.get().path().toString(), problems);
      try {
        String address = server.get().awaitAnswer(START_TIMEOUT);
        return new Sides(directory, server, side(Side.CONNECT, address, problems));
      } catch (RuntimeException e) {
        server.close();
        throw e;
      }
    } catch (RuntimeException e) {
      directory.close();
      throw e;
    }
  }

  private Guarded<ChildProcess> side(String role, String where, Consumer<String> problems) {
    return Guarded.of(
        ChildProcess.start(Side.class.getName(), List.of(role, contender.name(), where), problems));
  }

  /** A directory in shared memory for one match. */
  private record Directory(Path path) implements AutoCloseable {

    static Directory fresh() {
      Path parent = FreshAddress.sharedDirectory();
      try {
        return new Directory(Files.createTempDirectory(parent, "ferrule-peers-"));
      } catch (IOException e) {
        throw new ToolException(
            ExitCode.NO_RESOURCE,
            "cannot make a directory in " + parent + ": " + e.getMessage(),
            e);
      }
    }

    @Override
    public void close() {
      FreshAddress.remove(path);
    }
  }

  private record Sides(
      Guarded<Directory> directory, Guarded<ChildProcess> server, Guarded<ChildProcess> client)
      implements Match {

    @Override
    public OneWay oneWay(int size, int count) {
      String[] figures = measure(new Order(Order.Kind.ONE_WAY, count, size)).split(" ");
      return new OneWay(
          Double.parseDouble(figures[0]), OptionalDouble.of(Double.parseDouble(figures[1])));
    }

    @Override
    public double messagesPerSecond(int size, long count) {
      return Double.parseDouble(measure(new Order(Order.Kind.RATE, count, size)));
    }

    private String measure(Order order) {
      server.get().tell(order.line());
      client.get().tell(order.line());
      return client.get().awaitAnswer(ANSWER_TIMEOUT);
    }

    @Override
    public void close() {
      client.close();
      server.close();
      directory.close();
    }
  }
}
