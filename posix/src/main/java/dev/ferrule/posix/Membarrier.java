// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

/**
 * A memory barrier that runs on every thread of every process that registered for it:
 * membarrier(2).
 *
 * <p>The thread that goes to sleep pays for it. Its peer, which checks for a sleeper after each
 * message, then needs no barrier: a store–load barrier would wait, at each message, until the
 * message's cache line is transferred from the other core.
 */
public final class Membarrier {

  // linux/membarrier.h; not among the bindings
  private static final int CMD_GLOBAL_EXPEDITED = 1 << 1;
  private static final int CMD_REGISTER_GLOBAL_EXPEDITED = 1 << 2;
  private static final int CMD_PRIVATE_EXPEDITED = 1 << 3;
  private static final int CMD_REGISTER_PRIVATE_EXPEDITED = 1 << 4;

  private static final int ATTEMPTS = 10_000;

  /**
   * Whether this process is registered. Where the kernel or a sandbox refuses, both sides use
   * ordinary fences instead.
   */
  public static final boolean REGISTERED =
      Posix.membarrier(CMD_REGISTER_GLOBAL_EXPEDITED) && Posix.membarrier(CMD_GLOBAL_EXPEDITED);

  /** Whether this process is registered for the barrier among its own threads. */
  public static final boolean REGISTERED_PRIVATE =
      Posix.membarrier(CMD_REGISTER_PRIVATE_EXPEDITED) && Posix.membarrier(CMD_PRIVATE_EXPEDITED);

  private Membarrier() {}

  /**
   * Orders this thread's earlier stores before its later loads, and has every thread of the
   * registered processes run a full fence between the two. Does nothing where {@link #REGISTERED}
   * is false.
   */
  public static void global() {
    if (REGISTERED) {
      barrier(CMD_GLOBAL_EXPEDITED);
    }
  }

  /**
   * Does the same for the threads of this process only. Not to be called where {@link
   * #REGISTERED_PRIVATE} is false: both sides have to use ordinary fences there.
   */
  public static void inProcess() {
    barrier(CMD_PRIVATE_EXPEDITED);
  }

  /** Runs a barrier; repeats the call, because the kernel may lack memory for a moment. */
  private static void barrier(int command) {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (Posix.membarrier(command)) {
        return;
      }
      Thread.yield();
    }
    throw new IllegalStateException(
        "membarrier(2) fails, although this process has registered for it; check whether a seccomp"
            + " filter was installed after the start");
  }
}
