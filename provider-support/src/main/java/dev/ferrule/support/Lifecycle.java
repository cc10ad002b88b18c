// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionState;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.FerruleException;
import dev.ferrule.PeerLostException;
import dev.ferrule.ProtocolException;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.spi.ConnectionMonitor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The lifecycle of a connection. A connection is open until it ends, once and for one reason. The
 * reason is reported to the registered callbacks, and thrown by every later use of the connection.
 *
 * <p><b>Threads:</b> any thread may call these methods.
 */
public final class Lifecycle {

  private static final System.Logger LOGGER = System.getLogger(Connection.class.getName());

  /** How a connection ended. */
  private sealed interface End {
    enum Closed implements End {
      HERE,
      BY_PEER
    }

    /** The reason is without the address, which the failure's message begins with. */
    record Failed(String reason, FerruleException failure) implements End {}
  }

  private final Connection connection;
  private final List<Consumer<Connection>> actions = new ArrayList<>();
  private volatile @Nullable End end; // set once
  private boolean closing; // under the lock of actions
  private @Nullable CompletionStage<ConnectionState> closed; // if requested; under the same lock
  private volatile boolean released;

  /**
   * Creates the lifecycle of an open connection.
   *
   * @param connection the connection
   */
  public Lifecycle(Connection connection) {
    this.connection = connection;
  }

  /** The effect of a call that closes the connection. */
  public enum Closing {
    /** The first call, which ends the connection: sent messages must still be delivered. */
    OF_OPEN,

    /** The first call, on a connection that had already ended. */
    OF_ENDED,

    /** A later call; the first one may still be in progress, possibly in the same thread. */
    AGAIN
  }

  /**
   * Ends the connection because this side closes it. Only the first caller releases the
   * connection's resources. Other threads, and callbacks run by this method, must not.
   *
   * @return the effect of this call
   */
  public Closing close() {
    @Nullable List<Consumer<Connection>> callbacks;
    synchronized (actions) {
      if (closing) {
        return Closing.AGAIN;
      }
      closing = true;
      callbacks = setEnd(End.Closed.HERE);
    }
    return runAll(callbacks) ? Closing.OF_OPEN : Closing.OF_ENDED;
  }

  /**
   * Ends the connection because the peer has closed it.
   *
   * @return true if the connection was open
   */
  public boolean closedByPeer() {
    return end(End.Closed.BY_PEER, () -> {});
  }

  /**
   * Ends the connection because the peer is lost.
   *
   * @param reason how the loss was detected
   * @return true if the connection was open
   */
  public boolean lost(String reason) {
    return fail(new PeerLostException(connection.uri(), reason, null), reason);
  }

  /**
   * Ends the connection because the peer violated the protocol.
   *
   * @param reason the violation
   * @return true if the connection was open
   */
  public boolean broken(String reason) {
    return fail(new ProtocolException(connection.uri(), reason, null), reason);
  }

  /**
   * Ends the connection with a failure.
   *
   * @param failure the failure
   * @param reason the reason, without the address
   * @return true if the connection was open
   */
  public boolean fail(FerruleException failure, String reason) {
    return fail(failure, reason, () -> {});
  }

  /**
   * Ends the connection with a failure.
   *
   * @param failure the failure
   * @param reason the reason, without the address
   * @param record run if the connection is open, before the end becomes visible: a close by a
   *     callback or by a waiting thread happens after it. It must not block
   * @return true if the connection was open
   */
  public boolean fail(FerruleException failure, String reason, Runnable record) {
    return end(new End.Failed(reason, failure), record);
  }

  private boolean end(End how, Runnable record) {
    @Nullable List<Consumer<Connection>> callbacks;
    synchronized (actions) {
      if (end == null) {
        record.run();
      }
      callbacks = setEnd(how);
    }
    return runAll(callbacks);
  }

  /**
   * Sets the end; returns the callbacks to run, or null if the connection had ended. Under the
   * lock.
   */
  private @Nullable List<Consumer<Connection>> setEnd(End how) {
    if (end != null) {
      return null;
    }
    end = how;
    List<Consumer<Connection>> callbacks = List.copyOf(actions);
    actions.clear();
    return callbacks;
  }

  /** Runs the callbacks; returns whether the connection has just ended. */
  private boolean runAll(@Nullable List<Consumer<Connection>> callbacks) {
    if (callbacks == null) {
      return false;
    }
    callbacks.forEach(this::run);
    ConnectionMonitor.ended(connection);
    return true;
  }

  /**
   * Registers an action that runs when the connection ends, or now if it has ended.
   *
   * @param action the action
   */
  public void onEnd(Consumer<Connection> action) {
    synchronized (actions) {
      if (end == null) {
        actions.add(action);
        return;
      }
    }
    run(action);
  }

  /**
   * Removes an action that has not run.
   *
   * @param action the action
   * @return whether it was removed
   */
  public boolean remove(Consumer<Connection> action) {
    synchronized (actions) {
      return actions.remove(action);
    }
  }

  /** {@return the end of the connection, completed with its state; always the same object} */
  public CompletionStage<ConnectionState> closed() {
    CompletableFuture<ConnectionState> future;
    CompletionStage<ConnectionState> stage;
    synchronized (actions) {
      stage = closed;
      if (stage != null) {
        return stage;
      }
      future = new CompletableFuture<>();
      stage = future.minimalCompletionStage(); // the program cannot complete it
      closed = stage;
    }
    onEnd(connection -> future.complete(state()));
    return stage;
  }

  private void run(Consumer<Connection> action) {
    try {
      action.accept(connection);
    } catch (Throwable e) { // no throwable may end the thread that serves all connections
      LOGGER.log(
          System.Logger.Level.WARNING, "a close callback of " + connection.uri() + " failed", e);
    }
  }

  /** {@return whether the connection has ended, for any reason} */
  public boolean hasEnded() {
    return end != null;
  }

  /** Records that the connection's memory is being released. */
  public void release() {
    released = true;
  }

  /** {@return whether the connection's memory is released or being released} */
  public boolean isReleased() {
    return released;
  }

  /** {@return the connection's state} */
  public ConnectionState state() {
    return switch (end) {
      case null -> ConnectionState.OPEN;
      case End.Closed.HERE -> ConnectionState.CLOSED;
      case End.Closed.BY_PEER -> ConnectionState.CLOSED_BY_PEER;
      case End.Failed failed -> ConnectionState.FAILED;
    };
  }

  /** {@return the failure of the connection; null if it did not fail} */
  public @Nullable FerruleException failure() {
    return end instanceof End.Failed failed ? failed.failure() : null;
  }

  /**
   * Throws if the connection has ended.
   *
   * @throws FerruleException with the reason
   */
  public void checkOpen() {
    if (end != null) {
      throw exception(null);
    }
  }

  /**
   * Throws if the connection's memory is released.
   *
   * @throws FerruleException stating that this side has closed the connection
   */
  public void checkNotReleased() {
    if (released) {
      throw exception(null);
    }
  }

  /**
   * Returns the exception for the use of a connection that has ended.
   *
   * @param cause the underlying failure, or null
   * @return a new exception
   */
  public FerruleException exception(@Nullable Throwable cause) {
    End now = end;
    return switch (released || now == null ? End.Closed.HERE : now) {
      case End.Closed.HERE -> closed(false, "this side", cause);
      case End.Closed.BY_PEER -> closed(true, "the peer", cause);
      case End.Failed(String reason, ProtocolException failure) ->
          new ProtocolException(connection.uri(), reason, failure);
      case End.Failed(String reason, ResourceExhaustedException failure) ->
          new ResourceExhaustedException(connection.uri(), reason, failure);
      case End.Failed(String reason, FerruleException failure) ->
          new PeerLostException(connection.uri(), reason, failure);
    };
  }

  /**
   * Returns the exception for receiving when no further message can arrive: the connection has
   * ended, or the peer has closed its senders.
   *
   * @param sendersClosed whether the peer has closed its senders, and all its messages were
   *     received
   * @return a new exception: that of {@link #exception}, unless the peer's stream has ended in
   *     order
   */
  public FerruleException endOfStream(boolean sendersClosed) {
    End now = end;
    if (released || now == End.Closed.HERE) {
      return exception(null);
    }
    if (now == End.Closed.BY_PEER) {
      return endOfStream("the connection was closed by the peer");
    }
    boolean isBroken =
        now instanceof End.Failed failed && failed.failure() instanceof ProtocolException;
    return sendersClosed && !isBroken
        ? endOfStream("the peer has closed its senders")
        : exception(null);
  }

  private FerruleException endOfStream(String why) {
    return new EndOfStreamException(
        connection.uri(), "end of stream: all messages were received, and " + why, null);
  }

  private FerruleException closed(boolean byPeer, String side, @Nullable Throwable cause) {
    return new ConnectionClosedException(
        connection.uri(), byPeer, "the connection was closed by " + side, cause);
  }
}
