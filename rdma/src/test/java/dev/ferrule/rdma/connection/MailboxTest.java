// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.verbs.cm.CmEvent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The events of a connection attempt, taken by a thread that has been interrupted. */
class MailboxTest {

  private final Mailbox mailbox = new Mailbox();

  @AfterEach
  void clearInterrupt() {
    Thread.interrupted();
  }

  /** Otherwise {@code accept} drops a client that has confirmed the connection. */
  @Test
  void aQueuedEventIsTakenDespiteAnInterrupt() throws InterruptedException {
    CmEvent event = new CmEvent(CmEvent.Type.ESTABLISHED, 0, 1, 0, new byte[0]);
    mailbox.accept(event);
    Thread.currentThread().interrupt();

    assertThat(mailbox.next(Long.MAX_VALUE)).isSameAs(event);
    assertThat(mailbox.next(0)).isNull();
    assertThat(Thread.currentThread().isInterrupted()).isTrue();
  }

  @Test
  void anInterruptEndsAWait() {
    Thread.currentThread().interrupt();

    assertThatThrownBy(() -> mailbox.next(Long.MAX_VALUE)).isInstanceOf(InterruptedException.class);
  }
}
