// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.queue;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionCounters;
import dev.ferrule.ConnectionState;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.FerruleException;
import dev.ferrule.Receiver;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.Rma;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.spi.ConnectionMonitor;
import dev.ferrule.spi.ResolvedOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection. Messages are delivered when they are sent, so a close does not wait. The
 * callbacks of both ends run on the thread that closes. The memory is freed when no segment of it
 * is reachable.
 */
final class QueueConnection implements Connection {

  private static final System.Logger LOGGER = System.getLogger(Connection.class.getName());
  private static final AtomicLong NUMBERS = new AtomicLong();

  final Object lock; // of both ends
  final Arena arena = Arena.ofAuto();
  final WaitStrategy waitStrategy;
  private final URI uri;
  private final byte[] peerPayload;
  private final QueueReceiver receiver;
  private QueueSender sender; // set by open, as is the peer
  private QueueConnection peer;
  private ConnectionState state = ConnectionState.OPEN; // guarded by the lock, like the rest
  private boolean closed; // by this side
  private List<Consumer<Connection>> closeActions = new ArrayList<>();
  private @Nullable CompletionStage<ConnectionState> end; // if requested
  private final Set<Registration> used = new HashSet<>();

  private QueueConnection(Object lock, URI listener, ResolvedOptions options, byte[] peerPayload) {
    this.lock = lock;
    this.uri = URI.create(listener + "#" + NUMBERS.incrementAndGet());
    this.waitStrategy = options.get(StandardOptions.WAIT);
    this.peerPayload = peerPayload.clone();
    this.receiver =
        new QueueReceiver(this, Math.toIntExact(options.get(StandardOptions.MAX_MESSAGE)));
  }

  /** Creates both ends; returns the one of the listener. */
  static QueueConnection open(
      URI listener, ResolvedOptions ofListener, ResolvedOptions ofClient, byte[] answer) {
    Object lock = new Object();
    QueueConnection server = new QueueConnection(lock, listener, ofListener, ofClient.payload());
    QueueConnection client = new QueueConnection(lock, listener, ofClient, answer);
    server.join(client);
    client.join(server);
    ConnectionMonitor.opened(server);
    ConnectionMonitor.opened(client);
    return server;
  }

  private void join(QueueConnection other) {
    peer = other;
    sender = new QueueSender(this, other.receiver);
  }

  QueueConnection peer() {
    return peer;
  }

  boolean isClosed() {
    return closed;
  }

  /** Checks that this side has not closed. Called with the lock, like {@link #checkOpen}. */
  void checkNotClosed() {
    if (closed) {
      throw new ConnectionClosedException(uri, false, "the connection is closed", null);
    }
  }

  /** Checks that neither side has closed. */
  void checkOpen() {
    checkNotClosed();
    if (state != ConnectionState.OPEN) {
      throw new ConnectionClosedException(uri, true, "the peer closed the connection", null);
    }
  }

  /**
   * Checks that a message may still arrive: the peer has closed neither its sender nor the
   * connection.
   */
  void checkMoreMayArrive() {
    checkNotClosed();
    if (peer.sender.closed || state != ConnectionState.OPEN) {
      String side =
          state == ConnectionState.OPEN
              ? "the peer has closed its senders"
              : "the peer has closed the connection";
      throw new EndOfStreamException(uri, "end of stream: " + side, null);
    }
  }

  @Override
  public URI uri() {
    return uri;
  }

  @Override
  public Sender sender() {
    return sender;
  }

  @Override
  public Receiver receiver() {
    return receiver;
  }

  @Override
  public Rma rma() {
    throw new UnsupportedOperationException("queue has no remote memory access: " + uri);
  }

  @Override
  public byte[] peerPayload() {
    return peerPayload.clone();
  }

  @Override
  public RegisteredMemory register(MemorySegment memory) {
    synchronized (lock) {
      checkNotClosed();
    }
    if (!memory.isNative() || !memory.isAccessibleBy(Thread.ofVirtual().unstarted(() -> {}))) {
      throw new IllegalArgumentException("the memory must be native and accessible by any thread");
    }
    Registration registration = new Registration(memory);
    synchronized (lock) {
      checkNotClosed();
      registration.use(this);
    }
    return registration;
  }

  @Override
  public ConnectionState state() {
    synchronized (lock) {
      return state;
    }
  }

  @Override
  public @Nullable FerruleException failure() {
    return null; // the peer is in this process
  }

  @Override
  public void onClose(Consumer<Connection> action) {
    synchronized (lock) {
      if (state == ConnectionState.OPEN) {
        closeActions.add(action);
        return;
      }
    }
    run(action);
  }

  @Override
  public boolean removeOnClose(Consumer<Connection> action) {
    synchronized (lock) {
      return closeActions.remove(action);
    }
  }

  @Override
  public synchronized CompletionStage<ConnectionState> closed() {
    if (end == null) {
      CompletableFuture<ConnectionState> future = new CompletableFuture<>();
      end = future.minimalCompletionStage();
      onClose(connection -> future.complete(state()));
    }
    return end;
  }

  private record Counters(
      long messagesSent,
      long bytesSent,
      long messagesReceived,
      long bytesReceived,
      long backPressureStalls,
      long acknowledgments,
      OptionalLong retransmissions,
      OptionalLong wakeupsSent,
      long wakeupsReceived)
      implements ConnectionCounters {}

  @Override
  public ConnectionCounters counters() {
    synchronized (lock) {
      return new Counters(
          sender.sent,
          sender.bytes,
          receiver.received,
          receiver.bytes,
          sender.stalls,
          receiver.freed,
          OptionalLong.empty(), // nothing is ever retransmitted
          OptionalLong.empty(), // the JVM does not report whether a thread was waiting
          sender.wakeups + receiver.wakeups);
    }
  }

  @Override
  public void close() {
    close(Duration.ZERO);
  }

  @Override
  public void close(Duration timeout) {
    synchronized (lock) {
      closed = true;
      state = state == ConnectionState.OPEN ? ConnectionState.CLOSED : state;
      peer.state = peer.state == ConnectionState.OPEN ? ConnectionState.CLOSED_BY_PEER : peer.state;
      lock.notifyAll();
      used.forEach(registration -> registration.end(this));
      used.clear();
    }
    ended();
    peer.ended();
  }

  private void ended() {
    List<Consumer<Connection>> actions;
    synchronized (lock) {
      actions = closeActions;
      closeActions = new ArrayList<>();
    }
    actions.forEach(this::run);
    ConnectionMonitor.ended(this);
  }

  private void run(Consumer<Connection> action) {
    try {
      action.accept(this);
    } catch (Throwable e) {
      LOGGER.log(System.Logger.Level.WARNING, "a close callback of " + uri + " failed", e);
    }
  }

  /** Memory from which messages are copied, until no connection uses it any more. */
  static final class Registration implements RegisteredMemory {
    private final Set<QueueConnection> users = new HashSet<>();
    private final MemorySegment segment;
    private volatile boolean closed;

    Registration(MemorySegment segment) {
      this.segment = segment;
    }

    /** Adds a user. Called with the lock of the connection. */
    synchronized void use(QueueConnection connection) {
      checkOpen();
      users.add(connection);
      connection.used.add(this);
    }

    /** Removes a user. Called with the lock of the connection. */
    synchronized void end(QueueConnection connection) {
      users.remove(connection);
      closed |= users.isEmpty();
    }

    void checkOpen() {
      if (closed) {
        throw new IllegalStateException("the registered memory is closed; register it again");
      }
    }

    @Override
    public MemorySegment segment() {
      return segment;
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  @Override
  public String toString() {
    return uri() + " (" + state() + ")";
  }
}
