// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.support.Interleavings;
import dev.ferrule.support.Interleavings.Steps;
import dev.ferrule.verbs.cm.CmEvent;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that no event is lost or reordered if events arrive during the hand-over. */
@Tag("interleaving")
class MailboxInterleavingTest {

  private static CmEvent event(int number) {
    return new CmEvent(CmEvent.Type.ESTABLISHED, number, 0, 0, new byte[0]);
  }

  private static final class Successor implements Consumer<CmEvent> {
    volatile int last;

    @Override
    public void accept(CmEvent event) {
      Interleavings.check(event.status() == last + 1, event.status() + " after " + last);
      last = event.status();
    }
  }

  @Test
  void eventsThatArriveDuringTheHandOverKeepTheirOrder() {
    Interleavings.explore(() -> {
      Mailbox mailbox = new Mailbox();
      Successor successor = new Successor();
      mailbox.accept(event(1));
      Interleavings.runAll(
          new Steps() {
            @Override
            public void run() {
              mailbox.accept(event(2));
              mailbox.accept(event(3));
            }
          },
          new Steps() {
            @Override
            public void run() {
              mailbox.handOver(successor);
            }
          });
      Interleavings.check(successor.last == 3, "the last one: " + successor.last);
    });
  }
}
