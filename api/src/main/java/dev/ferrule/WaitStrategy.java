// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

/**
 * How a blocking call of a {@link Sender} or {@link Receiver} waits. It changes latency and CPU
 * use, never what the call does.
 */
public enum WaitStrategy {
  /**
   * Busy-waits: the lowest latency, one core at 100 % while waiting, no system call. Needs a core
   * of its own for each waiting thread; with more spinning threads than cores it is far slower than
   * the others.
   */
  SPIN,

  /**
   * Spins for some microseconds as long as no other thread needs the processor, then blocks: close
   * to SPIN under load, no CPU when idle. With more threads than processors it yields a few times
   * instead of spinning. The default.
   */
  ADAPTIVE,

  /**
   * Blocks at once until the peer wakes it up: no CPU while waiting, the wake-up costs some
   * microseconds per message.
   */
  BLOCK
}
