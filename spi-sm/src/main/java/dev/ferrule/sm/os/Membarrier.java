// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

/**
 * A memory barrier that runs on every thread of every process that registered for it:
 * membarrier(2).
 *
 * <p>Whoever goes to sleep pays for it, and so the other side, which looks for a sleeper after each
 * message, needs no barrier there. A store-load barrier per message would wait for the message's
 * cache line to come over from the other core, every time.
 */
public final class Membarrier {

  // linux/membarrier.h; not among the bindings
  private static final int CMD_GLOBAL_EXPEDITED = 1 << 1;
  private static final int CMD_REGISTER_GLOBAL_EXPEDITED = 1 << 2;

  /**
   * Whether this process is registered. Where the kernel or a sandbox refuses, both sides use
   * ordinary fences instead.
   */
  public static final boolean REGISTERED =
      Posix.membarrier(CMD_REGISTER_GLOBAL_EXPEDITED) && Posix.membarrier(CMD_GLOBAL_EXPEDITED);

  private Membarrier() {}

  /**
   * Orders this thread's stores before its later loads, as seen by every registered thread between
   * its own two accesses.
   */
  public static void global() {
    Posix.membarrier(CMD_GLOBAL_EXPEDITED);
  }
}
