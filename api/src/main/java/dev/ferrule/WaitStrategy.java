// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

/**
 * How a blocking call of a {@link Sender}, {@link Receiver} or {@link Rma} waits: by busy-waiting,
 * blocking, or both. The strategy affects latency and CPU use, but not the result of the call. The
 * two sides of a connection may differ. {@link StandardOptions#WAIT} sets it.
 */
public enum WaitStrategy {
  /**
   * Busy-waits: the lowest latency, one core at 100 % while waiting, no system call. Requires a
   * core for each waiting thread; with more spinning threads than cores it is far slower than the
   * other strategies.
   */
  SPIN,

  /**
   * Spins for some microseconds while no other thread needs the processor, then blocks: latency
   * close to SPIN under load, no CPU use when idle. With more threads than processors it yields a
   * few times instead of spinning. The default.
   */
  ADAPTIVE,

  /**
   * Blocks at once until the peer wakes the thread: no CPU use while waiting, some microseconds per
   * message for the wake-up.
   */
  BLOCK
}
