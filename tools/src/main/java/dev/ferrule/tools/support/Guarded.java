// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * A resource that is also closed when a signal ends the process, so that Ctrl-C leaves no open
 * connection, no file and no child process.
 *
 * @param <T> the type of the resource
 */
public final class Guarded<T extends AutoCloseable> implements AutoCloseable {

  private static final Deque<Guarded<?>> OPEN = new ArrayDeque<>();
  private static boolean exiting; // guarded by OPEN

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(Guarded::closeAll, "ferrule-exit"));
  }

  private final T resource;
  private boolean closed; // guarded by this

  private Guarded(T resource) {
    this.resource = resource;
  }

  /**
   * {@return the guard of a resource. The caller closes the guard, which closes the resource}
   *
   * @param <T> the type of the resource
   * @param resource the resource; closed immediately if the process is already exiting
   */
  public static <T extends AutoCloseable> Guarded<T> of(T resource) {
    Guarded<T> guarded = new Guarded<>(resource);
    boolean late;
    synchronized (OPEN) {
      late = exiting;
      OPEN.push(guarded);
    }
    if (late) {
      guarded.close();
    }
    return guarded;
  }

  /**
   * {@return whether a signal or {@code System.exit} has started the shutdown. Failures are then
   * its consequences, and need not be reported}
   */
  public static boolean exiting() {
    synchronized (OPEN) {
      return exiting;
    }
  }

  private static void closeAll() {
    synchronized (OPEN) {
      exiting = true;
    }
    while (true) {
      Guarded<?> last;
      synchronized (OPEN) {
        last = OPEN.peek();
      }
      if (last == null) {
        return;
      }
      try {
        last.close();
      } catch (RuntimeException e) {
        // the other resources must still be closed, and no caller can receive the exception
      }
    }
  }

  /** {@return the resource} */
  public T get() {
    return resource;
  }

  /** Ends the guard without closing the resource. */
  public synchronized void release() {
    closed = true;
    forget();
  }

  /** Closes the resource, or waits until a concurrent close is complete. Later calls do nothing. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      resource.close();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new ToolException(ExitCode.FAILED, String.valueOf(e.getMessage()), e);
    } finally {
      forget(); // after the close, since the shutdown waits for registered resources
    }
  }

  private void forget() {
    synchronized (OPEN) {
      OPEN.remove(this);
    }
  }
}
