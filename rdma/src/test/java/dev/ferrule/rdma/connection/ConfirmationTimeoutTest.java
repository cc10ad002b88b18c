// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.ConnectionState;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.verbs.cm.CmEvent;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The time that a listener waits for the confirmation of an accepted client, and what counts as a
 * confirmation.
 */
class ConfirmationTimeoutTest {

  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /** The time to confirm expires immediately. */
  private static final String NO_TIME = "?connectTimeout=1ms";

  /** The current time of the listener's clock, in nanoseconds. */
  private final AtomicLong now = new AtomicLong();

  private final FakeManager manager = new FakeManager();
  private final FakeProvider provider = new FakeProvider(manager);

  @AfterEach
  void close() {
    manager.close();
  }

  private void onAccept(LongConsumer action) {
    manager.onAccept = action;
  }

  /** Accepts a client by calls that do not wait for its confirmation. */
  private void acceptWithoutWaiting(RdmaListener listener) throws InterruptedException {
    CountDownLatch accepted = new CountDownLatch(1);
    onAccept(id -> accepted.countDown());
    bringClient();
    while (accepted.getCount() > 0) {
      expectNone(listener);
    }
  }

  private long bringClient() {
    return manager.bringClient(FakeProvider.hello(Hello.Kind.CONNECT));
  }

  private void expectOpen(Connection connection) {
    assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
    assertThat(manager.calls).doesNotContain("destroyQp");
  }

  @Test
  void aConfirmedClientIsReturnedByALaterAcceptHoweverLate() throws Exception {
    try (RdmaListener listener = provider.listen("?connectTimeout=2s", now::get)) {
      acceptWithoutWaiting(listener);
      manager.emit(CmEvent.Type.ESTABLISHED, manager.lastId);
      manager.awaitTicks();
      now.addAndGet(Duration.ofDays(1).toNanos());
      manager.awaitTicks();

      try (Connection connection = listener.accept(Duration.ZERO)) {
        expectOpen(connection);
      }
    }
  }

  @Test
  void aPendingConfirmationCountsWhenTheProgramAccepts() {
    onAccept(id -> manager.hold(CmEvent.Type.ESTABLISHED, id, 0, new byte[0]));
    try (RdmaListener listener = provider.listen(NO_TIME)) {
      bringClient();
      ConnectionRequest request = listener.nextRequest(PATIENCE);
      try (Connection connection = request.accept()) {
        expectOpen(connection);
      }
    }
  }

  @Test
  void aClientWithAPendingConfirmationIsNotReleasedAsSilent() throws Exception {
    try (RdmaListener listener = provider.listen(NO_TIME)) {
      CountDownLatch accepted = new CountDownLatch(1);
      onAccept(id -> {
        manager.hold(CmEvent.Type.ESTABLISHED, id, 0, new byte[0]);
        accepted.countDown();
      });
      bringClient();
      while (accepted.getCount() > 0) {
        acceptWithoutWaitingForAClient(listener);
      }
      manager.awaitTicks();
      manager.awaitTicks();

      assertThat(manager.calls).doesNotContain("destroyQp");
    }
  }

  /** Accepts; a client that has already confirmed may be returned as well. */
  private void acceptWithoutWaitingForAClient(RdmaListener listener) {
    try {
      expectOpen(listener.accept(Duration.ZERO));
    } catch (OperationTimeoutException e) {
      Thread.onSpinWait();
    }
  }

  @Test
  void aClientThatNeverConfirmsIsReleasedByTheEventLoop() throws Exception {
    Duration timeout = Duration.ofSeconds(2);
    try (RdmaListener listener = provider.listen("?connectTimeout=2s", now::get)) {
      acceptWithoutWaiting(listener);
      now.addAndGet(timeout.toNanos() - 1);
      manager.awaitTicks();
      assertThat(manager.calls).doesNotContain("destroyQp");
      now.incrementAndGet();
      while (!manager.calls.contains("destroyQp")) {
        manager.awaitTicks();
      }
      expectNone(listener);
    }
  }

  @Test
  void theTimeToConfirmBeginsWhenTheAcceptanceIsSent() {
    AtomicLong sentAt = new AtomicLong();
    onAccept(id -> {
      sentAt.set(System.nanoTime());
      manager.emit(CmEvent.Type.ESTABLISHED, id);
    });
    try (RdmaListener listener = provider.listen("?connectTimeout=7s")) {
      bringClient();
      RdmaConnectionRequest request = (RdmaConnectionRequest) listener.nextRequest(PATIENCE);
      AcceptedClient client = request.answer(new byte[0]);
      try (Connection connection = client.confirmed()) {
        expectOpen(connection);
        assertThat(Duration.ofNanos(client.deadline() - sentAt.get()))
            .isGreaterThanOrEqualTo(Duration.ofSeconds(7));
        assertThat(client.overdueAt() - sentAt.get())
            .isGreaterThanOrEqualTo(AcceptedClient.OVERDUE_NANOS);
      }
    }
  }

  @Test
  void aMessageConfirmsAClientWhoseConfirmationIsLost() {
    provider.messageCame = true;
    onAccept(id -> manager.emit(CmEvent.Type.UNREACHABLE, id));
    try (RdmaListener listener = provider.listen("")) {
      bringClient();
      try (Connection connection = listener.accept(PATIENCE)) {
        expectOpen(connection);
      }
      onAccept(id -> {}); // a message is the client's only confirmation
      bringClient();
      try (Connection connection = listener.accept(PATIENCE)) {
        assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
      }
    }
  }

  @Test
  void theTimeToConfirmIsShortenedIfTooManyClientsBlockOthers() {
    int most = 16;
    List<Long> silent = new CopyOnWriteArrayList<>();
    try (RdmaListener listener = provider.listen("?connectTimeout=24h", now::get)) {
      onAccept(id -> {
        if (silent.size() < most) {
          silent.add(id);
        } else {
          manager.emit(CmEvent.Type.ESTABLISHED, id);
        }
      });
      for (int i = 0; i < most + 1; i++) {
        bringClient();
      }
      for (int accepted = 1; accepted <= most; accepted++) {
        while (silent.size() < accepted) { // the event loop may not have taken the request yet
          expectNone(listener);
        }
        now.addAndGet(AcceptedClient.OVERDUE_NANOS);
      }
      now.set(AcceptedClient.SHORT_CONFIRM_NANOS - 1); // after the first was accepted
      expectNone(listener);
      now.incrementAndGet();
      try (Connection connection = listener.accept(PATIENCE)) {
        assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
      }
    }
  }

  private static void expectNone(RdmaListener listener) {
    assertThatThrownBy(() -> listener.accept(Duration.ZERO))
        .isInstanceOf(OperationTimeoutException.class);
  }
}
