// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import dev.ferrule.FerruleException;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.support.Interleavings.Steps;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that no use of registered memory outlives a close, and that each is released once. */
@Tag("interleaving")
class SharedRegistrationInterleavingTest {

  private static final MemorySegment MEMORY = Arena.ofAuto().allocate(64);

  private static class Use extends MemoryUse {
    private boolean busy; // under the monitor
    volatile int releases;

    Use(SharedRegistration memory, Lifecycle life) {
      super(memory, life);
    }

    synchronized void setBusy(boolean now) {
      busy = now;
      notifyAll();
    }

    @Override
    protected synchronized boolean awaitUnused(long start) {
      try {
        while (busy) {
          wait(); // spinning would take many steps
        }
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      return true;
    }

    @Override
    protected void giveUp() {}

    @Override
    protected void release() {
      releases++;
    }
  }

  /** A connection, which has at most one use of each registration. */
  private static final class Peer implements Function<SharedRegistration, Use> {
    final Lifecycle life = new Lifecycle(new UnusedConnection());
    final MemoryUses<Use> uses = new MemoryUses<>(Use.class, UnusedConnection.URI, life, this);
    volatile int begun;
    volatile int released;

    @Override
    public Use apply(SharedRegistration memory) {
      begun++;
      Peer peer = this;
      return new Use(memory, life) {
        @Override
        protected void release() {
          super.release();
          peer.released++;
        }
      };
    }

    /** A send from the memory: announces itself, and then checks whether the memory is open. */
    Steps sending(RegisteredMemory memory) {
      return new Steps() {
        @Override
        public void run() {
          try {
            Use use = uses.find(memory).use();
            use.setBusy(true);
            try {
              use.checkOpen();
              Interleavings.check(use.releases == 0, "the memory is sent after its release");
            } finally {
              use.setBusy(false);
            }
          } catch (IllegalStateException | FerruleException e) {
            // the memory or the connection is closed
          }
        }
      };
    }

    Steps closing() {
      return new Steps() {
        @Override
        public void run() {
          Lifecycle.Closing ignored = life.close();
          uses.close();
        }
      };
    }

    /** The second half of a close. */
    Steps endingUses() {
      return new Steps() {
        @Override
        public void run() {
          uses.close();
        }
      };
    }

    void expectAllReleased() {
      Interleavings.check(
          released == begun, "uses begun: " + begun + ", and released: " + released);
    }
  }

  private static Steps closing(RegisteredMemory memory) {
    return new Steps() {
      @Override
      public void run() {
        memory.close();
      }
    };
  }

  @Test
  void noMessageIsSentFromMemoryAfterItsClose() {
    Interleavings.explore(() -> {
      Peer first = new Peer();
      Peer second = new Peer();
      RegisteredMemory memory = first.uses.register(MEMORY);
      Interleavings.runAll(second.sending(memory), closing(memory));
      first.expectAllReleased();
      second.expectAllReleased();
    });
  }

  @Test
  void aUseThatBeginsWhileItsConnectionClosesIsReleased() {
    Interleavings.explore(() -> {
      Peer first = new Peer();
      Peer second = new Peer();
      RegisteredMemory memory = first.uses.register(MEMORY);
      Interleavings.runAll(second.sending(memory), second.closing());
      second.expectAllReleased();
      memory.close();
      first.expectAllReleased();
    });
  }

  @Test
  void aUseIsReleasedOnceIfItsConnectionAndItsMemoryAreClosed() {
    Interleavings.explore(() -> {
      Peer peer = new Peer();
      RegisteredMemory memory = peer.uses.register(MEMORY);
      Lifecycle.Closing ignored = peer.life.close();
      Interleavings.runAll(peer.endingUses(), closing(memory));
      peer.expectAllReleased();
    });
  }
}
