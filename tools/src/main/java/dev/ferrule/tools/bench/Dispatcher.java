// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.tools.support.Guarded;
import dev.ferrule.tools.support.Problems;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The server side of all connections of a listener, in one thread. It receives from all of them
 * ({@link dev.ferrule.Listener#receiver()}) and dispatches each message by its connection. With
 * {@link Session}, each connection has its own thread instead.
 */
final class Dispatcher implements AutoCloseable {

  private static final Duration STALL = Duration.ofSeconds(1);

  private final Receiver receiver;
  private final ServerLimits limits;
  private final Consumer<String> problems;
  private final Map<Connection, ClientState> states = new ConcurrentHashMap<>();
  private final StallGuard guard =
      new StallGuard(
          STALL,
          connection ->
              report(
                  connection.uri()
                      + ": closed, because its client does not receive and delays other clients"));
  private volatile boolean closed;
  private final ExecutorService closer =
      new ThreadPoolExecutor(
          1,
          1,
          0,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(),
          Thread.ofPlatform().daemon().name("ferrule-serve close").factory(),
          new ThreadPoolExecutor.DiscardPolicy()); // close() closes all connections

  /**
   * Creates the server side. {@code problems} receives one line for each failure of a client; the
   * other clients are still served.
   */
  Dispatcher(Receiver receiver, ServerLimits limits, Consumer<String> problems) {
    this.receiver = receiver;
    this.limits = limits;
    this.problems = problems;
  }

  /** Adds a connection. Its first message may already have been dispatched. */
  void add(Connection connection) {
    ClientState state = state(connection);
    if (closed) { // while the connection was being accepted
      state.close();
    }
  }

  private ClientState state(Connection connection) {
    ClientState known = states.get(connection); // allocates nothing
    return known != null ? known : states.computeIfAbsent(connection, ClientState::new);
  }

  /** Closes a connection that has ended or failed. */
  private void remove(Connection connection) {
    ClientState state = states.remove(connection);
    if (state == null) {
      return;
    }
    RuntimeException failure = connection.failure();
    if (failure != null) {
      report(Problems.reason(failure));
    } else if (state.isInRound()) {
      report(connection.uri() + ": closed in the middle of a measurement");
    }
    state.close();
  }

  private void report(String problem) {
    if (!Guarded.exiting()) {
      problems.accept(problem);
    }
  }

  /** Dispatches messages, in the calling thread, until the listener is closed. */
  void run() {
    while (true) {
      ReceiveRegion message;
      try {
        message = receiver.receive();
      } catch (ConnectionClosedException e) {
        return;
      }
      dispatch(message);
    }
  }

  private void dispatch(ReceiveRegion message) {
    Connection connection = message.connection();
    try {
      state(connection).take(message);
    } catch (RuntimeException e) {
      if (e instanceof RoundRefusedException refused) {
        refuse(connection, refused);
      }
      report(Problems.reason(e));
      closer.execute(() -> remove(connection));
    } finally {
      guard.end();
      message.close();
    }
  }

  private void refuse(Connection connection, RoundRefusedException reason) {
    guard.begin(connection);
    Refusal.send(connection.sender(), reason);
  }

  /** The state of one connection: what remains of its current round. */
  private final class ClientState implements AutoCloseable {

    private final Guarded<Connection> connection;
    private final ServedMemory memory;
    private volatile long echoes; // to be sent
    private volatile @Nullable Sink sink;
    private int endOfEchoes; // the length of the message that ends them

    private ClientState(Connection connection) {
      this.connection = Guarded.of(connection);
      this.memory = new ServedMemory(connection, limits);
      connection.onClose(ended -> closer.execute(() -> remove(ended)));
    }

    private boolean isInRound() {
      return echoes > 0 || sink != null;
    }

    private void take(ReceiveRegion message) {
      Sink begun = sink;
      if (begun != null) {
        begun.onMessage(message.buffer(), message.offset(), message.length());
        replyIfEnded(begun);
      } else if (echoes > 0) {
        echoes = message.length() == endOfEchoes ? 0 : echoes - 1;
        guard.begin(connection.get());
        connection.get().sender().send(message.buffer(), message.offset(), message.length());
      } else {
        begin(Round.read(message));
      }
    }

    private void begin(Round round) {
      limits.check(round);
      switch (round.kind()) {
        case ECHO -> {
          endOfEchoes = round.endLength();
          echoes = round.count();
        }
        case SINK -> {
          // another thread may close the connection at any time: the collector frees the memory
          MessageContent expected = new MessageContent(Arena.ofAuto(), round.size());
          Sink begun = new Sink(expected, round);
          sink = begun;
          replyIfEnded(begun);
        }
        // no floor: spinning for one client would starve the others
        case OPEN_FLOOR -> reply(new RoundReply(false, 0, 0, 0));
        case CALLS_WARMUP, CALLS ->
            throw new RoundRefusedException(
                "protocol violation: the client requested a one-way round on a connection in both"
                    + " directions");
        case FLOOR, RING_ECHO, RING_SINK ->
            throw new RoundRefusedException(
                "protocol violation: the client requested a floor round, but opened no floor");
        case EXPOSE, ALLOCATE -> {
          ExposureMessage exposure = memory.expose(round);
          guard.begin(connection.get());
          exposure.send(connection.get().sender());
        }
      }
    }

    private void replyIfEnded(Sink begun) {
      if (begun.hasEnded()) {
        sink = null;
        reply(begun.reply());
      }
    }

    private void reply(RoundReply reply) {
      guard.begin(connection.get());
      reply.send(connection.get().sender());
    }

    @Override
    public void close() {
      try {
        memory.close();
      } finally {
        connection.close();
      }
    }
  }

  /** Closes all connections. */
  @Override
  public void close() {
    closed = true;
    guard.close();
    closer.shutdown();
    states.values().forEach(ClientState::close);
  }
}
