// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.ring;

import java.lang.foreign.MemorySegment;

/** Creates the two ends of rings. Tests substitute ends that stop at a {@link RingStep}. */
public class RingFactory {

  /** The ends used outside tests. */
  public static final RingFactory ORDINARY = new RingFactory();

  /** Creates an instance. */
  protected RingFactory() {}

  /**
   * Creates the sending end for one thread at a time.
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
   * Creates the sending end for several threads.
   *
   * @param layout the ring's layout
   * @param ring the ring's memory
   * @param records see {@link ConcurrentRingProducer}
   * @param buffer the payload lines
   * @param fences see {@link ConcurrentRingProducer}
   * @param waiters see {@link ConcurrentRingProducer}
   * @return the end
   */
  public ConcurrentRingProducer concurrentProducer(
      RingLayout layout,
      MemorySegment ring,
      RecordMemory records,
      MemorySegment buffer,
      boolean fences,
      ConcurrentRingProducer.Waiters waiters) {
    return new ConcurrentRingProducer(layout, ring, records, buffer, fences, waiters);
  }

  /**
   * Creates the receiving end.
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
