// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import dev.ferrule.support.Interleavings.Steps;
import java.net.URI;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that a descriptor is readable while something waits, whichever thread it comes from. */
@Tag("interleaving")
class ReadinessInterleavingTest {

  private static final URI HERE = URI.create("sm:///test");

  /** A descriptor that counts its changes. */
  private static final class Descriptor implements Supplier<ReadinessDescriptor.Event> {
    final ReadinessDescriptor readiness = new ReadinessDescriptor(HERE, this);
    volatile boolean readable;
    volatile boolean changedTwice;

    @Override
    public ReadinessDescriptor.Event get() {
      return new ReadinessDescriptor.Event(
          1,
          new Consumer<>() {
            @Override
            public void accept(Boolean now) {
              changedTwice |= readable == now;
              readable = now;
            }
          },
          new Runnable() {
            @Override
            public void run() {}
          });
    }

    Steps opening() {
      return new Steps() {
        @Override
        public void run() {
          int ignored = readiness.descriptor();
        }
      };
    }

    void expect(boolean expected) {
      Interleavings.check(readable == expected, "readable: " + readable);
      Interleavings.check(!changedTwice, "set to what it is");
    }
  }

  /** Messages of one kind, from a peer that makes the descriptor readable if that is requested. */
  private static final class Messages {
    final ReadinessDescriptor.Source source;
    volatile boolean waiting;
    volatile boolean requested;

    Messages(Descriptor descriptor) {
      source =
          descriptor.readiness.source(
              new Runnable() {
                @Override
                public void run() {
                  requested = true;
                }
              },
              new BooleanSupplier() {
                @Override
                public boolean getAsBoolean() {
                  return waiting;
                }
              });
    }

    Steps arriving() {
      return new Steps() {
        @Override
        public void run() {
          waiting = true;
          if (requested) {
            requested = false;
            source.raise();
          }
        }
      };
    }

    /** The program looks, and waits for the descriptor if it finds nothing. */
    Steps polled() {
      return new Steps() {
        @Override
        public void run() {
          if (!waiting) {
            boolean ignored = source.foundNothing();
          }
        }
      };
    }

    Steps raising() {
      return new Steps() {
        @Override
        public void run() {
          source.raise();
        }
      };
    }

    Steps finding() {
      return new Steps() {
        @Override
        public void run() {
          source.found();
        }
      };
    }
  }

  @Test
  void aMessageThatArrivesWhileTheProgramFindsNothingMakesTheDescriptorReadable() {
    Interleavings.explore(() -> {
      Descriptor descriptor = new Descriptor();
      Messages messages = new Messages(descriptor);
      descriptor.readiness.descriptor();
      Interleavings.runAll(messages.polled(), messages.arriving());
      descriptor.expect(true);
    });
  }

  @Test
  void theDescriptorIsReadableIfOneOfSeveralSourcesIsRaised() {
    Interleavings.explore(() -> {
      Descriptor descriptor = new Descriptor();
      Messages some = new Messages(descriptor);
      Messages others = new Messages(descriptor);
      descriptor.readiness.descriptor();
      Interleavings.runAll(some.polled(), others.polled());
      descriptor.expect(false);
      Interleavings.runAll(some.raising(), others.finding());
      descriptor.expect(true);
    });
  }

  @Test
  void aDescriptorThatIsOpenedDuringAnArrivalIsReadable() {
    Interleavings.explore(() -> {
      Descriptor descriptor = new Descriptor();
      Messages messages = new Messages(descriptor);
      boolean ignored = messages.source.foundNothing();
      Interleavings.runAll(descriptor.opening(), messages.arriving());
      descriptor.expect(true);
    });
  }

  @Test
  void aSourceWhoseProgramHasFoundWhatItWaitsForIsNotRaised() {
    Interleavings.explore(() -> {
      Descriptor descriptor = new Descriptor();
      Messages messages = new Messages(descriptor);
      descriptor.readiness.descriptor();
      boolean ignored = messages.source.foundNothing();
      Interleavings.runAll(messages.finding(), messages.raising());
      descriptor.expect(false);
    });
  }
}
