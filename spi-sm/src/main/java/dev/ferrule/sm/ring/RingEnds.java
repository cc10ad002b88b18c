// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import java.lang.foreign.MemorySegment;

/**
 * Makes the two ends of rings. Tests put others in their place, which stop at a {@link RingStep}.
 */
public class RingEnds {

  /** What is used outside tests. */
  public static final RingEnds ORDINARY = new RingEnds();

  /** Makes the usual ends. */
  protected RingEnds() {}

  /**
   * Makes the sending end for one thread at a time.
   *
   * @param layout the ring's layout
   * @param ring the ring's memory
   * @param buffer the payload lines
   * @param fences see {@link RingProducer}
   * @return the end
   */
  public RingProducer producer(
      RingLayout layout, MemorySegment ring, MemorySegment buffer, boolean fences) {
    return new RingProducer(layout, ring, buffer, fences);
  }

  /**
   * Makes the sending end for several threads.
   *
   * @param layout the ring's layout
   * @param ring the ring's memory
   * @param buffer the payload lines
   * @param fences see {@link ConcurrentRingProducer}
   * @param onRoom see {@link ConcurrentRingProducer}
   * @return the end
   */
  public ConcurrentRingProducer concurrentProducer(
      RingLayout layout,
      MemorySegment ring,
      MemorySegment buffer,
      boolean fences,
      Runnable onRoom) {
    return new ConcurrentRingProducer(layout, ring, buffer, fences, onRoom);
  }

  /**
   * Makes the receiving end.
   *
   * @param layout the ring's layout
   * @param ring the ring's memory
   * @param buffer the payload lines
   * @param fences see {@link RingConsumer}
   * @return the end
   */
  public RingConsumer consumer(
      RingLayout layout, MemorySegment ring, MemorySegment buffer, boolean fences) {
    return new RingConsumer(layout, ring, buffer, fences);
  }
}
