// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import dev.ferrule.ConnectionClosedException;
import dev.ferrule.Readiness;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.StandardOptions;
import dev.ferrule.spi.ResolvedOptions;
import java.io.IOException;
import java.net.URI;
import java.nio.channels.SelectableChannel;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A descriptor and a channel that are readable while at least one {@link Source} is raised. Each is
 * opened when the program first requests it.
 */
public final class ReadinessDescriptor implements Readiness, AutoCloseable {

  /**
   * A descriptor of the operating system that can be made readable, as eventfd(2).
   *
   * @param number the descriptor's number
   * @param setReadable makes the descriptor readable, or not readable. Called only to change it; it
   *     is not readable at first. Does not block
   * @param closing closes the descriptor
   */
  public record Event(int number, Consumer<Boolean> setReadable, Runnable closing) {}

  private final URI uri;
  private final Supplier<Event> opener;

  // Guarded by this. While the sources keep their state, nothing takes the lock.
  private int raised;
  private boolean closed;
  private @Nullable Event event;
  private @Nullable WakeupPipe pipe;

  /**
   * Creates an instance without sources; see {@link #ifRequested}.
   *
   * @param uri the URI of the connection or listener, for exceptions
   * @param opener opens a descriptor
   */
  public ReadinessDescriptor(URI uri, Supplier<Event> opener) {
    this.uri = uri;
    this.opener = opener;
  }

  /**
   * Creates the readiness of a connection or listener, if its program has requested one.
   *
   * @param options the options
   * @param uri the URI of the connection or listener, for exceptions
   * @param opener opens a descriptor
   * @return the readiness; null if the option is off
   */
  public static @Nullable ReadinessDescriptor ifRequested(
      ResolvedOptions options, URI uri, Supplier<Event> opener) {
    return options.get(StandardOptions.READINESS) == Readiness.Interest.OFF
        ? null
        : new ReadinessDescriptor(uri, opener);
  }

  /**
   * Returns the readiness to a program that requests it.
   *
   * @param readiness the readiness; null if the option is off
   * @param uri the URI of the connection or listener
   * @return the readiness
   * @throws IllegalStateException if there is none
   */
  public static Readiness orThrow(@Nullable ReadinessDescriptor readiness, URI uri) {
    if (readiness == null) {
      throw new IllegalStateException(
          uri
              + " has no readiness: the option readiness is off; set readiness=receive or"
              + " readiness=all before connecting or listening");
    }
    return readiness;
  }

  /**
   * Adds a source, which is raised at first.
   *
   * @param request requests a wake-up, which raises the source
   * @param look returns whether there may be something; a throw counts as true
   * @return the source
   */
  public synchronized Source source(Runnable request, BooleanSupplier look) {
    count(1);
    return new Source(request, look);
  }

  /**
   * Raises a source, if there is one.
   *
   * @param source the source; null without readiness
   */
  public static void raise(@Nullable Source source) {
    if (source != null) {
      source.raise();
    }
  }

  /**
   * Called by a thread that has checked and found nothing; see {@link Source#foundNothing}.
   *
   * @param source the source; null without readiness
   */
  public static void foundNothing(@Nullable Source source) {
    if (source != null) {
      source.foundNothing();
    }
  }

  private enum State {
    /** The descriptor is readable: there is something, or the program has not checked. */
    RAISED,
    /** The program has found nothing, and has requested a wake-up. */
    REQUESTED,
    /** The program has found what it looked for, and does not wait for more. */
    IDLE
  }

  /** One reason to be readable, such as messages. */
  public final class Source {

    private final Runnable request;
    private final BooleanSupplier look;
    private volatile State state = State.RAISED;

    private Source(Runnable request, BooleanSupplier look) {
      this.request = request;
      this.look = look;
    }

    /**
     * Makes the descriptor readable, because something has arrived, or may have, unless the program
     * does not wait for it. By any thread; costs a load if there is nothing to do.
     */
    public void raise() {
      if (state == State.REQUESTED) {
        change(State.REQUESTED, State.RAISED);
      }
    }

    /**
     * Called when the program has found all that it waits for, such as room: this source is not
     * raised again before a call of {@link #foundNothing}.
     */
    public void found() {
      State now = state;
      while (now != State.IDLE) { // another thread may raise it meanwhile
        change(now, State.IDLE);
        now = state;
      }
    }

    /**
     * Called by a thread that has checked and found nothing; the program waits from now on. Unless
     * a request is pending, requests a wake-up and checks once more, so that an arrival either is
     * found or follows the request.
     *
     * @return whether there may be something now, so that this source stays raised
     */
    public boolean foundNothing() {
      State now = state;
      if (now == State.REQUESTED || !change(now, State.REQUESTED)) {
        return false;
      }
      boolean mayBeSomething = true;
      try {
        request.run();
        mayBeSomething = look.getAsBoolean();
      } finally {
        if (mayBeSomething) {
          raise();
        }
      }
      return mayBeSomething;
    }

    /** Changes the state; returns false if another thread has changed it. */
    private boolean change(State from, State to) {
      synchronized (ReadinessDescriptor.this) {
        if (state != from) {
          return false;
        }
        state = to;
        count((to == State.RAISED ? 1 : 0) - (from == State.RAISED ? 1 : 0));
        return true;
      }
    }
  }

  private void count(int more) {
    boolean wasReadable = raised > 0;
    raised += more;
    boolean isReadable = raised > 0;
    if (isReadable != wasReadable) {
      if (event != null) {
        event.setReadable().accept(isReadable);
      }
      if (pipe != null) {
        pipe.setReadable(isReadable);
      }
    }
  }

  @Override
  public synchronized int descriptor() {
    checkOpen();
    Event known = event;
    if (known == null) {
      known = opener.get();
      if (raised > 0) {
        known.setReadable().accept(true);
      }
      event = known;
    }
    return known.number();
  }

  @Override
  public synchronized SelectableChannel channel() {
    checkOpen();
    WakeupPipe known = pipe;
    if (known == null) {
      known = openPipe();
      if (raised > 0) {
        known.setReadable(true);
      }
      pipe = known;
    }
    return known.channel();
  }

  private void checkOpen() {
    if (closed) {
      throw new ConnectionClosedException(
          uri, false, "the readiness is closed with its connection or listener", null);
    }
  }

  private WakeupPipe openPipe() {
    try {
      return new WakeupPipe();
    } catch (IOException e) {
      throw new ResourceExhaustedException(
          uri,
          e.getMessage() + "; a channel takes two descriptors, so raise the limit (ulimit -n)",
          e);
    }
  }

  /** Closes the descriptor and the channel. Those of a closed connection or listener. */
  @Override
  public synchronized void close() {
    closed = true;
    if (event != null) {
      event.closing().run();
      event = null;
    }
    if (pipe != null) {
      pipe.close();
      pipe = null;
    }
  }
}
