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
   * Creates the sending end.
   *
   * @param layout the ring's layout
   * @param ring the ring's memory
   * @param buffer the payload lines
   * @param first see {@link RingProducer}
   * @param fences see {@link RingProducer}
   * @return the end
   */
  public RingProducer producer(
      RingLayout layout,
      MemorySegment ring,
      MemorySegment buffer,
      MemorySegment first,
      boolean fences) {
    return new RingProducer(layout, ring, buffer, first, fences);
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

  /**
   * Creates the sleep of a receiver.
   *
   * @param first see {@link ReceiverSleep}
   * @param fences see {@link ReceiverSleep}
   * @return the sleep
   */
  public ReceiverSleep sleep(MemorySegment first, boolean fences) {
    return new ReceiverSleep(first, fences);
  }
}
