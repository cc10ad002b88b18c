// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import dev.ferrule.posix.Errno;
import dev.ferrule.rdma.simulation.CmIdState.Phase;
import dev.ferrule.verbs.AsyncEvent;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.VerbsLibrary;
import dev.ferrule.verbs.calls.CmCalls;
import dev.ferrule.verbs.calls.VerbsCalls;
import dev.ferrule.verbs.cm.CmEvent;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A simulated RDMA network within this process, without hardware: the libraries, and one device
 * whose queue pairs reach each other. Providers run on {@link #library()} with addresses of the
 * host 127.0.0.1. One thread executes the steps of the device and the network in a random order. A
 * random seed determines the order, as far as the program's threads allow. Faults are injected with
 * a probability, or immediately.
 *
 * <p>Violations of the libraries' rules are recorded as problems: use of a destroyed object, an
 * object destroyed before its users, events that are not acknowledged. {@link #close} throws for
 * problems, and for objects that the program has not destroyed.
 *
 * <p><b>Threads:</b> safe for use by several threads.
 */
public final class SimulatedFabric implements AutoCloseable {

  private static final long RELEASE_MILLIS = 10_000;

  private final Object monitor = new Object();
  private final FabricObjects objects = new FabricObjects(monitor);
  private final SplittableRandom random;
  private final FabricFaults faults;
  private final FabricScheduler scheduler;
  private final SimulatedVerbs verbs;
  private final SimulatedCm cm;
  private final VerbsLibrary library;
  private volatile long retryNanos = 500_000_000;
  private boolean dropsCompletions;
  private long receiverNotReady;
  private long overflows;

  /**
   * Creates a network without faults.
   *
   * @param seed determines the order of the steps, and the random faults
   */
  public SimulatedFabric(long seed) {
    random = new SplittableRandom(seed);
    faults = new FabricFaults(random.split());
    dropsCompletions = random.nextBoolean();
    scheduler = new FabricScheduler(monitor, objects, random.split());
    synchronized (monitor) {
      verbs = new SimulatedVerbs(this, objects);
      cm = new SimulatedCm(this, objects, verbs);
    }
    scheduler.start();
    library = VerbsLibrary.of(guarded(VerbsCalls.class, verbs), guarded(CmCalls.class, cm));
  }

  /** Returns the libraries. */
  public VerbsLibrary library() {
    return library;
  }

  private <T> T guarded(Class<T> type, T target) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> call(target, method, arguments)));
  }

  private @Nullable Object call(Object target, Method method, Object @Nullable [] arguments)
      throws Throwable {
    String name = method.getName();
    // without the monitor: otherwise spinning threads would keep it from others
    if (name.equals("pollCq") && !faults.mayFail(name) && verbs.isEmpty((long) arguments[1])) {
      return 0;
    }
    synchronized (monitor) {
      int errno = faults.errno(name);
      if (errno != 0) {
        return result(method, -errno);
      }
      try {
        return method.invoke(target, arguments);
      } catch (InvocationTargetException e) {
        objects.problem(new AssertionError(name + ": " + e.getCause(), e.getCause()));
        return result(method, -Errno.EINVAL);
      } finally {
        scheduler.wake();
      }
    }
  }

  private static @Nullable Object result(Method method, int value) {
    Class<?> type = method.getReturnType();
    return type == long.class ? (Object) (long) value : type == int.class ? value : null;
  }

  /** Makes a function, by its name in VerbsCalls or CmCalls, fail from now on. */
  public void fail(String function, int errno) {
    failRandomly(function, errno, 1);
  }

  /** Makes the next call of a function fail. */
  public void failNext(String function, int errno) {
    synchronized (monitor) {
      faults.fail(function, errno, 1, 1);
    }
  }

  /** Makes each call of a function fail with a probability. */
  public void failRandomly(String function, int errno, double probability) {
    synchronized (monitor) {
      faults.fail(function, errno, probability, Integer.MAX_VALUE);
    }
  }

  /** Makes each send request fail with a probability; it is not executed. */
  public void failSends(CompletionStatus status, double probability) {
    synchronized (monitor) {
      faults.failSends(status, probability);
    }
  }

  /** Makes each consumed receive fail with a probability. */
  public void failReceives(CompletionStatus status, double probability) {
    synchronized (monitor) {
      faults.failReceives(status, probability);
    }
  }

  /** Ends all failures. */
  public void repair() {
    synchronized (monitor) {
      faults.repair();
    }
  }

  /** Returns how many calls of each function have failed since the last call of this method. */
  public Map<String, Integer> takeFailedCalls() {
    synchronized (monitor) {
      return faults.takeFailed();
    }
  }

  /** Delays steps of a kind with a probability, each by at most {@code most} other steps. */
  public void delay(StepKind kind, double probability, int most) {
    synchronized (monitor) {
      scheduler.delay(kind, probability, most);
    }
  }

  /** Sets how long a queue pair retransmits to a peer that does not answer. */
  public void setRetryTime(Duration time) {
    retryNanos = time.toNanos();
  }

  /**
   * Sets whether destroying a queue pair drops its completions from their queue, as some drivers
   * do.
   */
  public void setDropsCompletions(boolean drops) {
    synchronized (monitor) {
      dropsCompletions = drops;
    }
  }

  /** Makes the next connect request end with an event, such as UNREACHABLE or REJECTED. */
  public void endNextRequest(CmEvent.Type type, int status) {
    synchronized (monitor) {
      cm.endNextRequest(type, status);
    }
  }

  /**
   * Reports an asynchronous event of a random queue pair or completion queue, or of the port. An
   * error of a queue pair moves it to the error state.
   *
   * @return false if there is no such object
   */
  public boolean report(AsyncEvent.Type type) {
    synchronized (monitor) {
      boolean done =
          switch (type) {
            case DEVICE_FATAL, PORT_ACTIVE, PORT_ERROR -> {
              verbs.cmContext().report(type, null);
              yield true;
            }
            case COMPLETION_QUEUE_ERROR -> {
              CompletionQueueState queue = any(objects.all(CompletionQueueState.class));
              if (queue != null) {
                queue.context.report(type, queue);
              }
              yield queue != null;
            }
            default -> {
              QueuePairState queuePair = any(objects.all(QueuePairState.class));
              if (queuePair != null) {
                queuePair.toError(type);
              }
              yield queuePair != null;
            }
          };
      scheduler.wake();
      return done;
    }
  }

  /**
   * Disconnects a random connection as the end of a process does: one side's queue pair enters the
   * error state, and the other side gets an event.
   *
   * @return false if there is no connection
   */
  public boolean disconnectOne() {
    synchronized (monitor) {
      CmIdState id = anyConnected();
      if (id != null) {
        int ignored = cm.disconnect(id);
        scheduler.wake();
      }
      return id != null;
    }
  }

  /**
   * Cuts the link of a random connection: from now on, nothing arrives in either direction.
   *
   * @return false if there is no connection
   */
  public boolean cutOne() {
    synchronized (monitor) {
      CmIdState id = anyConnected();
      QueuePairState one = id == null ? null : id.queuePair;
      if (one != null && one.peer != null) {
        one.cut = true;
        one.peer.cut = true;
      }
      return one != null;
    }
  }

  /** Reports the removal of the device to all ids. */
  public void removeDevice() {
    synchronized (monitor) {
      verbs.cmContext().report(AsyncEvent.Type.DEVICE_FATAL, null);
      for (CmIdState id : objects.all(CmIdState.class)) {
        if (id.context != null) {
          id.report(CmEvent.Type.DEVICE_REMOVAL, 0);
        }
      }
    }
  }

  private @Nullable CmIdState anyConnected() {
    return any(
        objects.all(CmIdState.class).stream()
            .filter(id -> id.phase == Phase.CONNECTED && id.queuePair != null)
            .toList());
  }

  private <T> @Nullable T any(List<T> all) {
    return all.isEmpty() ? null : all.get(random.nextInt(all.size()));
  }

  /** Returns the number of messages that found no posted receive at first. */
  public long receiverNotReady() {
    synchronized (monitor) {
      return receiverNotReady;
    }
  }

  /** Returns the number of completions that were lost because their queue was full. */
  public long overflows() {
    synchronized (monitor) {
      return overflows
          + objects.all(CompletionQueueState.class).stream()
              .mapToInt(CompletionQueueState::overflows)
              .sum();
    }
  }

  /** Returns the number of objects that the program has created and not destroyed, by kind. */
  public Map<String, Integer> left() {
    return objects.left();
  }

  /** Returns the program's violations of the libraries' rules. */
  public List<AssertionError> problems() {
    return objects.problems();
  }

  /**
   * Waits until the program has destroyed all objects. Throws if it does not in time, or if there
   * is a problem.
   */
  public void awaitReleased() {
    long end = System.nanoTime() + RELEASE_MILLIS * 1_000_000;
    synchronized (monitor) {
      while (!left().isEmpty() && problems().isEmpty() && System.nanoTime() - end < 0) {
        try {
          monitor.wait(1);
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
      }
    }
    AssertionError all = new AssertionError("left: " + left() + ", problems: " + problems());
    problems().forEach(all::addSuppressed);
    if (!left().isEmpty() || !problems().isEmpty()) {
      throw all;
    }
  }

  /** Ends the network after {@link #awaitReleased}. */
  @Override
  public void close() {
    try {
      awaitReleased();
    } finally {
      synchronized (monitor) {
        scheduler.stop();
        verbs.cmContext().close();
      }
    }
  }

  FabricScheduler scheduler() {
    return scheduler;
  }

  FabricFaults faults() {
    return faults;
  }

  long retryNanos() {
    return retryNanos;
  }

  boolean dropsCompletions() {
    return dropsCompletions;
  }

  void countNotReady() {
    receiverNotReady++;
  }

  void countOverflows(int more) {
    overflows += more;
  }
}
