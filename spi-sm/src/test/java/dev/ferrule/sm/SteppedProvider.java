// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.sm.ring.RingConsumer;
import dev.ferrule.sm.ring.RingFactory;
import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.sm.ring.RingProducer;
import dev.ferrule.sm.ring.RingStep;
import dev.ferrule.spi.ConnectionProvider;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/** A provider whose threads report each step, so that a test can stop them there. */
public final class SteppedProvider {

  private SteppedProvider() {}

  /**
   * Creates a provider.
   *
   * @param onStep called at each step, by the thread that reaches it
   * @return the provider
   */
  public static ConnectionProvider of(Consumer<RingStep> onStep) {
    return new SmProvider(() -> null, new SteppedEnds(onStep));
  }

  private static final class SteppedEnds extends RingFactory {

    private final Consumer<RingStep> onStep;

    SteppedEnds(Consumer<RingStep> onStep) {
      this.onStep = onStep;
    }

    @Override
    public RingProducer producer(
        RingLayout layout,
        MemorySegment ring,
        MemorySegment buffer,
        MemorySegment first,
        boolean fences) {
      return new RingProducer(layout, ring, buffer, first, fences) {
        @Override
        protected void reached(RingStep step) {
          onStep.accept(step);
        }
      };
    }

    @Override
    public RingConsumer consumer(
        RingLayout layout, MemorySegment ring, MemorySegment buffer, boolean fences) {
      return new RingConsumer(layout, ring, buffer, fences) {
        @Override
        protected void reached(RingStep step) {
          onStep.accept(step);
        }
      };
    }
  }
}
