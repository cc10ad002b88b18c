// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.tools.support.Affinity;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;

/**
 * Pins each busy thread to a processor. Otherwise the scheduler may run two of them on one
 * processor, and every message waits for a time slice. The client's threads use the first allowed
 * processors, the server's threads the last ones.
 *
 * @param cpus the processors to use, in ascending order; with fewer than two, no thread is pinned
 */
public record Pinning(List<Integer> cpus) {

  /** No pinning. */
  public static final Pinning OFF = new Pinning(List.of());

  /**
   * {@return the pinning on the processors that this process may use; {@link #OFF} with fewer than
   * two processors}
   */
  public static Pinning onAllowedCpus() {
    List<Integer> cpus = Affinity.allowed();
    return cpus.size() < 2 ? OFF : new Pinning(List.copyOf(cpus));
  }

  /**
   * {@return whether each of several threads can have a processor of its own}
   *
   * @param threads the number of threads
   */
  public boolean hasRoomFor(int threads) {
    return !cpus.isEmpty() && threads <= cpus.size();
  }

  /**
   * {@return the processor for a client thread; empty if pinning is off, or none is left}
   *
   * @param index the thread's index, from 0
   */
  public OptionalInt client(int index) {
    return index < cpus.size() ? OptionalInt.of(cpus.get(index)) : OptionalInt.empty();
  }

  /**
   * {@return the processor for a server thread; empty if pinning is off, or only the processor of
   * the client's first thread is left}
   *
   * @param index the number of other busy threads of the server
   */
  public OptionalInt server(int index) {
    return index < cpus.size() - 1
        ? OptionalInt.of(cpus.get(cpus.size() - 1 - index))
        : OptionalInt.empty();
  }

  /** Pins the calling thread, unless there is no processor for it. */
  static void apply(OptionalInt cpu, Consumer<String> problems) {
    if (cpu.isPresent() && !Affinity.pin(cpu.getAsInt())) {
      problems.accept(
          "not pinned: sched_setaffinity for CPU " + cpu.getAsInt() + " failed; continuing");
    }
  }

  /**
   * Runs work in a new, pinned thread. The calling thread is not pinned: it may start a
   * connection's helper threads, which would inherit its pinning.
   *
   * @param <T> the type of the result
   * @param cpu the processor's number; if empty, the thread is not pinned
   * @param problems receives one line if the system refuses
   * @param work the work
   * @return what the work returns
   */
  public static <T> T call(OptionalInt cpu, Consumer<String> problems, Callable<T> work) {
    FutureTask<T> task =
        new FutureTask<>(() -> {
          apply(cpu, problems);
          return work.call();
        });
    Thread.ofPlatform().daemon().name("ferrule-bench").start(task);
    try {
      return task.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw new IllegalStateException(e.getCause());
    }
  }
}
