// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.when;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.ConnectionRejectedException;
import dev.ferrule.ConnectionState;
import dev.ferrule.FerruleException;
import dev.ferrule.InvalidAddressException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.PeerLostException;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.posix.Errno;
import dev.ferrule.rdma.context.RdmaContext;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.cm.CmEvent;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Connection attempts, by the events of the connection manager and their timing. */
class ConnectorTest {

  private static final int LEVEL_ID = 0;
  private static final int OPTION_ACK_TIMEOUT = 3;

  private final FakeManager manager = new FakeManager();
  private final FakeProvider provider = new FakeProvider(manager);

  @BeforeEach
  void establish() {
    byte[] hello = FakeProvider.hello(Hello.Kind.ACCEPT);
    manager.onConnect = () -> manager.answer(CmEvent.Type.ESTABLISHED, 0, hello);
  }

  @AfterEach
  void close() {
    manager.close();
  }

  private void reject(int status, byte[] privateData) {
    manager.onConnect = () -> manager.answer(CmEvent.Type.REJECTED, status, privateData);
  }

  @Test
  void aPendingAnswerIsInTime() {
    manager.onConnect =
        () ->
            manager.hold(
                CmEvent.Type.ESTABLISHED, manager.lastId, 0, FakeProvider.hello(Hello.Kind.ACCEPT));
    when(manager.device.cm.resolveAddr(anyLong(), any(), anyInt()))
        .thenAnswer(call -> {
          manager.hold(CmEvent.Type.ADDRESS_RESOLVED, manager.lastId, 0, new byte[0]);
          return 0;
        });
    try (Connection connection = provider.connect("?connectTimeout=1ms")) {
      assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
    }
  }

  /** A route may return, so a program that connects again must not end on this exception. */
  @ParameterizedTest
  @ValueSource(ints = {Errno.ENETUNREACH, Errno.EHOSTUNREACH, Errno.ENETDOWN})
  void aHostWithoutARouteRefusesTheConnection(int errno) {
    when(manager.device.cm.resolveAddr(anyLong(), any(), anyInt())).thenReturn(-errno);

    assertThatThrownBy(() -> provider.connect(""))
        .isInstanceOf(ConnectionRefusedException.class)
        .hasMessageContaining("no route to that host");
  }

  @Test
  void aHostThatNoDeviceReachesIsAnInvalidAddress() {
    when(manager.device.cm.resolveAddr(anyLong(), any(), anyInt())).thenReturn(-Errno.ENODEV);

    assertThatThrownBy(() -> provider.connect("")).isInstanceOf(InvalidAddressException.class);
  }

  @Test
  void onlyWaitsCountTowardsTheTimeout() throws Exception {
    RdmaContext context = RdmaContext.retain(manager.device.library);
    try {
      Mailbox silent = new Mailbox();
      ConnectTimeLeft timeout =
          new ConnectTimeLeft(silent, context, FakeProvider.options("?connectTimeout=20ms"));
      Thread.sleep(2); // stands for work that takes time, such as creating the queues
      assertThat(timeout.millisLeft()).isEqualTo(20);
      assertThat(timeout.next()).isNull();
      assertThat(timeout.millisLeft()).as("the least that librdmacm takes").isEqualTo(1);
    } finally {
      context.release();
    }
  }

  @Test
  void connectingToAListenerThatNeverAnswersTimesOut() {
    manager.onConnect = () -> {};
    long start = System.nanoTime();
    assertThatThrownBy(() -> provider.connect("?connectTimeout=300ms"))
        .isInstanceOf(OperationTimeoutException.class)
        .hasMessageContaining("connectTimeout");
    assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(299_000_000);
  }

  @Test
  void theMessageNamesTheProtocolOfAnotherListener() {
    reject(CmEvent.REJECTED_BY_CONSUMER, padded("Frsr\1\3\5\0\0\0\0\0hello"));

    assertThatThrownBy(() -> provider.connect(""))
        .isInstanceOf(ConnectionRefusedException.class)
        .hasMessageContaining(
            "connection refused: the listener speaks sendrecv, not fake; connect to sendrecv://");
  }

  private static byte[] padded(String text) {
    return Arrays.copyOf(text.getBytes(StandardCharsets.ISO_8859_1), 148);
  }

  @Test
  void aRejectionByAForeignProgramDiffersFromTheEndOfAListener() {
    reject(CmEvent.REJECTED_BY_CONSUMER, padded("no"));
    assertThatThrownBy(() -> provider.connect(""))
        .isInstanceOf(ConnectionRefusedException.class)
        .hasMessageContaining("the listener is not Ferrule");

    reject(CmEvent.REJECTED_BY_CONSUMER, padded(""));
    assertThatThrownBy(() -> provider.connect(""))
        .isInstanceOf(ConnectionRefusedException.class)
        .hasMessageContaining("the listener was closed, or its process ended");
  }

  @ParameterizedTest
  @CsvSource({"28", "-" + Errno.ECONNREFUSED}) // InfiniBand and iWARP
  void aRejectionByTheProgramIsReported(int status) {
    reject(status, FakeProvider.hello(Hello.Kind.REJECT));
    assertThatThrownBy(() -> provider.connect("")).isInstanceOf(ConnectionRejectedException.class);
  }

  @ParameterizedTest
  @CsvSource({
    "8, no listener at that port",
    "10, earlier connection",
    "4, timed out",
    "6, is unknown to",
    "9, does not support this kind",
    "12, check the addresses",
    "26, MTU",
    "27, RDMA READs",
    "77, rejects the connection",
  })
  void aRejectionByTheKernelHasItsReason(int reason, String text) {
    reject(reason, new byte[0]);
    assertThatThrownBy(() -> provider.connect(""))
        .isInstanceOf(ConnectionRefusedException.class)
        .hasMessageContaining(text)
        .hasMessageContaining("(reject reason " + reason + ")");
  }

  @Test
  void aHostWithoutQueuePairsIsOutOfResources() {
    reject(1, new byte[0]);
    assertThatThrownBy(() -> provider.connect("")).isInstanceOf(ResourceExhaustedException.class);
  }

  @Test
  void aConnectErrorNamesTheListenerAsALikelyCause() {
    manager.onConnect = () -> manager.answer(CmEvent.Type.CONNECT_ERROR, 0, new byte[0]);
    assertThatThrownBy(() -> provider.connect(""))
        .isInstanceOf(ConnectionRefusedException.class)
        .hasMessageContaining("could not complete the connection")
        .hasMessageContaining("closed it at once");
  }

  private List<Integer> ackTimeouts() {
    List<Integer> set = new ArrayList<>();
    when(manager.device.cm.setOption(anyLong(), anyInt(), anyInt(), any()))
        .thenAnswer(call -> {
          if (call.<Integer>getArgument(1) == LEVEL_ID
              && call.<Integer>getArgument(2) == OPTION_ACK_TIMEOUT) {
            set.add((int) call.<MemorySegment>getArgument(3).get(ValueLayout.JAVA_BYTE, 0));
          }
          return 0;
        });
    return set;
  }

  @Test
  void withoutAHandshakeTheAckTimeoutIsLongerThanTheRnrTimer() {
    List<Integer> set = ackTimeouts();
    provider.connect("").close();
    provider.hasHandshake = false;
    provider.connect("").close();
    provider.connect("?ackTimeout=5").close();

    assertThat(set).containsExactly(14, 18, 5);
    assertThat(4_096L << 18).as("ns").isGreaterThan(655_360_000);
    assertThat(4_096L << 17).as("ns").isLessThan(655_360_000);
  }

  /** By these a device's vendor, and a reader of its manual, find the cause. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SUCCESS")
  void aFailedRequestIsReportedWithItsStatusAndTheCodeOfTheVendor(CompletionStatus status) {
    RdmaConnection connection = provider.connect("");
    connection.channel().callbacks().onSendFailure(status, 129);
    assertThat(connection.failure())
        .hasMessageContaining(status.text())
        .hasMessageEndingWith("(" + status + ", vendor error 129)");
    connection.close();
  }

  /** A process that ends loses its exposed memory before its queue pair. */
  @Test
  void aRefusedRemoteMemoryAccessMeansThatThePeerIsLost() {
    RdmaConnection connection = provider.connect("");
    connection.channel().callbacks().onAccessFailure(CompletionStatus.REMOTE_ACCESS_ERROR, 129);
    assertThat(connection.failure())
        .isInstanceOf(PeerLostException.class)
        .hasMessageContaining("refused a remote memory access")
        .hasMessageContaining("the peer's process has ended")
        .hasMessageEndingWith("(REMOTE_ACCESS_ERROR, vendor error 129)");
    connection.close();
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SUCCESS")
  void aFailedRemoteMemoryAccessIsReportedWithItsStatus(CompletionStatus status) {
    RdmaConnection connection = provider.connect("");
    connection.channel().callbacks().onAccessFailure(status, 129);
    assertThat(connection.failure())
        .isInstanceOf(PeerLostException.class)
        .hasMessageContaining(status.text())
        .hasMessageEndingWith("(" + status + ", vendor error 129)");
    connection.close();
  }

  @Test
  void retryExceededHasTwoCausesWithoutFlowControl() {
    RdmaConnection connection = provider.connect("");
    connection.channel().callbacks().onSendFailure(CompletionStatus.RETRY_EXCEEDED, 0);
    assertThat(connection.failure())
        .isInstanceOf(PeerLostException.class)
        .hasMessageContaining("does not answer (its host is dead, the link is cut, or a software")
        .hasMessageNotContaining("RNR");
    connection.close();

    provider.flowControlled = false;
    RdmaConnection plain = provider.connect("");
    plain.channel().callbacks().onSendFailure(CompletionStatus.RETRY_EXCEEDED, 0);
    assertThat(plain.failure())
        .hasMessageContaining(
            "its host is dead, the link is cut, or a software device has no processor")
        .hasMessageContaining("no receive posted (RNR)")
        .hasMessageContaining("raise ackTimeout");
    plain.close();
  }

  /**
   * Blocks like rdma_rxe, whose packets wait in the network stack for an address that is never
   * resolved.
   */
  private CountDownLatch blockDestroyingQueuePairs() {
    CountDownLatch block = new CountDownLatch(1);
    doAnswer(
            call -> {
              block.await(1, TimeUnit.MINUTES);
              manager.calls.add("destroyQp");
              return null;
            })
        .when(manager.device.cm)
        .destroyQp(anyLong());
    return block;
  }

  @Test
  void closingAFailedConnectionDoesNotWaitUntilTheQueuePairIsDestroyed() {
    CountDownLatch block = blockDestroyingQueuePairs();
    RdmaConnection connection = provider.connect("");
    connection.channel().callbacks().onSendFailure(CompletionStatus.RETRY_EXCEEDED, 0);

    connection.close();

    assertThat(manager.calls).doesNotContain("destroyQp");
    assertThatThrownBy(connection::checkUsable).isInstanceOf(FerruleException.class);
    block.countDown();
    while (!manager.calls.contains("destroyQp")) {
      Thread.onSpinWait();
    }
  }

  @Test
  void closingAnOpenConnectionDestroysTheQueuePairBeforeItReturns() {
    provider.connect("").close();

    assertThat(manager.calls).containsExactly("destroyQp");
  }

  /** An event would use the freed queue pair. */
  @Test
  void aConnectionThatCannotBeCompletedGetsNoEventsAfterItsQueuePairIsDestroyed() throws Exception {
    when(manager.device.verbs.modifyQp(anyLong(), any(), anyInt()))
        .thenAnswer(call -> {
          manager.calls.add("modifyQp");
          return -Errno.ENOMEM;
        });
    RdmaContext rdmaContext =
        RdmaContext.retain(manager.device.library); // keeps the event loop running
    try {
      assertThatThrownBy(() -> provider.connect(""))
          .isInstanceOf(ResourceExhaustedException.class)
          .hasMessageContaining("ibv_modify_qp");
      while (!manager.calls.contains("destroyQp")) {
        Thread.onSpinWait();
      }
      manager.reportFatalError();
      manager.awaitTicks();

      assertThat(manager.calls).endsWith("destroyQp").contains("modifyQp");
    } finally {
      rdmaContext.release();
    }
  }
}
