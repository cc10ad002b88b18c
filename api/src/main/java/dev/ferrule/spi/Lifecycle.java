// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionState;
import dev.ferrule.FerruleException;
import dev.ferrule.PeerLostException;
import dev.ferrule.ProtocolException;
import dev.ferrule.ResourceExhaustedException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The life of a connection, for providers: it is open, and then it ends once, for one reason, which
 * is told to whoever asked for it and thrown at whoever uses the connection after that.
 *
 * <p><b>Threads:</b> any thread may call anything.
 */
public final class Lifecycle {

  private static final System.Logger LOGGER = System.getLogger(Lifecycle.class.getName());
  private static final String CLOSED_HERE = "the connection was closed by this side";

  /** How and why a connection ended. */
  private record End(ConnectionState state, String reason, @Nullable FerruleException failure) {}

  private final Connection connection;
  private final List<Consumer<Connection>> actions = new ArrayList<>();
  private volatile @Nullable End end; // set once
  private boolean closing; // under the lock of actions
  private volatile boolean released;

  /**
   * Begins the life of a connection.
   *
   * @param connection the connection
   */
  public Lifecycle(Connection connection) {
    this.connection = connection;
  }

  /** Which of the calls that close a connection one is. */
  public enum Closing {
    /** The first, and it ends the connection: the peer is to get what was sent. */
    OF_OPEN,

    /** The first; the connection had ended before. */
    OF_ENDED,

    /** Not the first, which may still be at it, or even be further up the stack. */
    AGAIN
  }

  /**
   * Ends the connection because this side closes it. The first caller goes on to give up what the
   * connection is made of, and the others do not, be they other threads or the program's callbacks
   * that are run from here.
   *
   * @return which call this is
   */
  public Closing close() {
    @Nullable List<Consumer<Connection>> told;
    synchronized (actions) {
      if (closing) {
        return Closing.AGAIN;
      }
      closing = true;
      told = settle(new End(ConnectionState.CLOSED, CLOSED_HERE, null));
    }
    return tell(told) ? Closing.OF_OPEN : Closing.OF_ENDED;
  }

  /**
   * Ends the connection because the peer has closed it.
   *
   * @return whether it had not ended before
   */
  public boolean closedByPeer() {
    return end(
        new End(ConnectionState.CLOSED_BY_PEER, "the connection was closed by the peer", null),
        () -> {});
  }

  /**
   * Ends the connection because the peer is gone.
   *
   * @param reason how that was noticed
   * @return whether it had not ended before
   */
  public boolean lost(String reason) {
    return fail(new PeerLostException(connection.uri(), reason, null), reason);
  }

  /**
   * Ends the connection because the peer broke the protocol.
   *
   * @param reason what it did
   * @return whether it had not ended before
   */
  public boolean broken(String reason) {
    return fail(new ProtocolException(connection.uri(), reason, null), reason);
  }

  /**
   * Ends the connection by a failure.
   *
   * @param failure the failure
   * @param reason the same in words, without the address
   * @return whether it had not ended before
   */
  public boolean fail(FerruleException failure, String reason) {
    return fail(failure, reason, () -> {});
  }

  /**
   * Ends the connection by a failure.
   *
   * @param failure the failure
   * @param reason the same in words, without the address
   * @param record run if the connection had not ended before, and before anything sees that it has:
   *     a close by a callback, or by a thread that waited, comes after it. It must not block
   * @return whether it had not ended before
   */
  public boolean fail(FerruleException failure, String reason, Runnable record) {
    return end(new End(ConnectionState.FAILED, reason, failure), record);
  }

  private boolean end(End how, Runnable record) {
    @Nullable List<Consumer<Connection>> told;
    synchronized (actions) {
      if (end == null) {
        record.run();
      }
      told = settle(how);
    }
    return tell(told);
  }

  /** Returns what is to be done now; null if the connection had ended. Under the lock. */
  private @Nullable List<Consumer<Connection>> settle(End how) {
    if (end != null) {
      return null;
    }
    end = how;
    List<Consumer<Connection>> told = List.copyOf(actions);
    actions.clear();
    return told;
  }

  /** Does what is to be done; returns whether the connection has ended just now. */
  private boolean tell(@Nullable List<Consumer<Connection>> told) {
    if (told == null) {
      return false;
    }
    told.forEach(this::run);
    ConnectionMonitor.ended(connection);
    return true;
  }

  /**
   * Has something done when the connection ends, or now if it has.
   *
   * @param action what to do
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

  private void run(Consumer<Connection> action) {
    try {
      action.accept(connection);
    } catch (Throwable e) { // whatever it is, it must not end the thread of all connections
      LOGGER.log(
          System.Logger.Level.WARNING, "a close callback of " + connection.uri() + " failed", e);
    }
  }

  /**
   * Tells whether the connection has ended, for whatever reason.
   *
   * @return whether it has
   */
  public boolean hasEnded() {
    return end != null;
  }

  /** Says that the connection's memory is going. */
  public void release() {
    released = true;
  }

  /**
   * Tells whether the connection's memory is gone, or is going.
   *
   * @return whether it is
   */
  public boolean isReleased() {
    return released;
  }

  /**
   * Returns the connection's state.
   *
   * @return the state
   */
  public ConnectionState state() {
    End now = end;
    return now == null ? ConnectionState.OPEN : now.state();
  }

  /**
   * Returns what made the connection fail.
   *
   * @return the failure, or null if it did not fail
   */
  public @Nullable FerruleException failure() {
    End now = end;
    return now == null ? null : now.failure();
  }

  /**
   * Throws if the connection has ended.
   *
   * @throws FerruleException saying why it has
   */
  public void checkOpen() {
    if (end != null) {
      throw exception(null);
    }
  }

  /**
   * Throws if the connection's memory is gone.
   *
   * @throws FerruleException saying that this side has closed the connection
   */
  public void checkNotReleased() {
    if (released) {
      throw exception(null);
    }
  }

  /**
   * Returns what to throw for using a connection that has ended.
   *
   * @param cause the underlying failure, or null
   * @return a new exception
   */
  public FerruleException exception(@Nullable Throwable cause) {
    End now = end;
    if (released || now == null || now.state() == ConnectionState.CLOSED) {
      return new ConnectionClosedException(connection.uri(), false, CLOSED_HERE, cause);
    }
    if (now.state() == ConnectionState.CLOSED_BY_PEER) {
      return new ConnectionClosedException(connection.uri(), true, now.reason(), cause);
    }
    if (now.failure() instanceof ProtocolException) {
      return new ProtocolException(connection.uri(), now.reason(), now.failure());
    }
    return now.failure() instanceof ResourceExhaustedException
        ? new ResourceExhaustedException(connection.uri(), now.reason(), now.failure())
        : new PeerLostException(connection.uri(), now.reason(), now.failure());
  }
}
