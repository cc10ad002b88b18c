// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.ferrule.integration.rdma.Loopback.Completion;
import dev.ferrule.integration.rdma.Loopback.End;
import dev.ferrule.integration.rdma.Loopback.Pair;
import dev.ferrule.posix.Errno;
import dev.ferrule.verbs.AccessFlags;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.MemoryRegion;
import dev.ferrule.verbs.ReceiveChain;
import dev.ferrule.verbs.SendChain;
import dev.ferrule.verbs.SendOperation;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.cm.CmId;
import dev.ferrule.verbs.cm.ConnectionParameters;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The verbs layer on a device: connections, and the operations on them. */
@RdmaTest
class ConnectedVerbsDeviceTest {

  private static final int IMMEDIATE = 0x12345678;

  private final Loopback loopback = new Loopback();

  @AfterEach
  void close() {
    loopback.close();
  }

  @Test
  void aMessageArrives() {
    Pair pair = loopback.connect();
    pair.server().receive(1024, 100);
    pair.client().write(0, "hello");
    pair.client().send(SendOperation.SEND, 7, 0, 5, SendChain.SIGNALED);

    Completion received = pair.server().nextReceived();
    assertThat(received)
        .isEqualTo(
            new Completion(
                1024,
                CompletionStatus.SUCCESS,
                true,
                5,
                Optional.empty(),
                pair.server().queuePair.number()));
    assertThat(pair.server().read(1024, 5)).isEqualTo("hello");

    Completion sent = pair.client().nextSent();
    assertThat(sent.id()).isEqualTo(7);
    assertThat(sent.status()).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(sent.receive()).isFalse();
    assertThat(sent.queuePair()).isEqualTo(pair.client().queuePair.number());
  }

  @Test
  void anEmptyMessageArrives() {
    Pair pair = loopback.connect();
    pair.server().receive(0, 0);
    pair.client().send(SendOperation.SEND, 7, 0, 0, SendChain.SIGNALED);
    assertThat(pair.server().nextReceived().length()).isZero();
  }

  @Test
  void anInlineMessageIsCopiedWhenPosted() {
    Pair pair = loopback.connect();
    assertThat(pair.client().queuePair.sizes().inline()).isGreaterThanOrEqualTo(Loopback.INLINE);
    pair.client().write(0, "first");
    SendChain chain = new SendChain(1);
    // An invalid key: the device must not use it.
    chain.set(
        0,
        SendOperation.SEND,
        7,
        pair.client().address(0),
        5,
        0,
        SendChain.SIGNALED | SendChain.INLINE);
    assertThat(pair.client().queuePair.post(chain, 0, 1)).isZero();
    pair.client().write(0, "after");

    pair.server().receive(1024, 100); // posted only now, so that the device sends after the change
    assertThat(pair.server().nextReceived().status()).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(pair.server().read(1024, 5)).isEqualTo("first");
  }

  @Test
  void immediateDataArrivesAsItWasSet() {
    Pair pair = loopback.connect();
    pair.server().receive(1024, 100);
    pair.client().nextSend().setImmediate(0, IMMEDIATE);
    pair.client().send(SendOperation.SEND_WITH_IMMEDIATE, 7, 0, 5, SendChain.SIGNALED);
    assertThat(pair.server().nextReceived().immediate()).contains(IMMEDIATE);
  }

  @Test
  void aChainIsPostedAtOnceAndArrivesInOrder() {
    Pair pair = loopback.connect();
    int count = 8;
    ReceiveChain receives = new ReceiveChain(count);
    SendChain sends = new SendChain(count);
    for (int i = 0; i < count; i++) {
      receives.set(i, i, pair.server().address(i * 64), 64, pair.server().memory.localKey());
      pair.client().write(i * 64, "message " + i);
      sends.set(
          i,
          SendOperation.SEND,
          100 + i,
          pair.client().address(i * 64),
          9,
          pair.client().memory.localKey(),
          i == count - 1 ? SendChain.SIGNALED : 0);
    }
    assertThat(pair.server().queuePair.post(receives, 0, count)).isZero();
    // Two parts of one chain; the first must complete before the second.
    assertThat(pair.client().queuePair.post(sends, 0, 3)).isZero();
    assertThat(pair.client().queuePair.post(sends, 3, count - 3)).isZero();

    for (int i = 0; i < count; i++) {
      assertThat(pair.server().nextReceived().id()).isEqualTo(i);
      assertThat(pair.server().read(i * 64, 9)).isEqualTo("message " + i);
    }
    assertThat(pair.client().nextSent().id()).isEqualTo(100 + count - 1);
    assertThat(pair.client().sends.poll(CompletionQueue.BATCH)).isZero();
  }

  @Test
  void completionsArePolledInBatches() {
    Pair pair = loopback.connect();
    int count = 10;
    for (int i = 0; i < count; i++) {
      pair.server().receive(i * 64, 64);
    }
    for (int i = 0; i < count; i++) {
      pair.client().send(SendOperation.SEND, i, 0, i, SendChain.SIGNALED);
      assertThat(pair.client().nextSent().status()).isEqualTo(CompletionStatus.SUCCESS);
    }
    CompletionQueue queue = pair.server().receives;
    List<Completion> polled = new ArrayList<>();
    List<Integer> batches = new ArrayList<>();
    while (polled.size() < count) {
      int batch = queue.poll(4);
      assertThat(batch).isBetween(0, 4);
      for (int i = 0; i < batch; i++) {
        polled.add(End.completion(queue, i));
      }
      batches.add(batch);
    }
    assertThat(batches).contains(4); // all were acknowledged before, and so had completed
    for (int i = 0; i < count; i++) {
      assertThat(polled.get(i).id()).isEqualTo(i * 64L);
      assertThat(polled.get(i).length()).isEqualTo(i);
    }
  }

  /**
   * Events of a queue arrive in the order of its completions. A surplus event in an early round
   * would be taken for that of a later round, so that one would remain at the end.
   */
  @Test
  void anEventArrivesOnlyIfRequestedAndOnlyOnce() {
    int rounds = 4;
    Pair pair = loopback.connect();
    End server = pair.server();
    for (int i = 0; i < 2 * rounds; i++) {
      server.receive(i * 64, 64);
    }
    for (int i = 0; i < rounds; i++) {
      pair.client().send(SendOperation.SEND, 1, 0, 5, 0);
      server.nextReceived(); // without an event, as none was requested

      assertThat(server.receives.requestNotification()).isZero();
      pair.client().send(SendOperation.SEND, 2, 0, 5, 0);
      long key =
          Loopback.eventually(
              "an event",
              () -> {
                OptionalLong event = server.events.nextEvent();
                return event.isPresent() ? Optional.of(event.getAsLong()) : Optional.empty();
              });
      assertThat(key).isEqualTo(Loopback.KEY);
      server.nextReceived();
    }
    assertThat(server.events.nextEvent()).isEmpty();
  }

  @Test
  void memoryOfThePeerIsWritten() {
    Pair pair = loopback.connect();
    pair.client().write(0, "written");
    pair.client().nextSend().setRemote(0, pair.server().address(512), serverKey(pair));
    pair.client().send(SendOperation.RDMA_WRITE, 7, 0, 7, SendChain.SIGNALED);
    assertThat(pair.client().nextSent().status()).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(pair.server().read(512, 7)).isEqualTo("written");
    assertThat(pair.server().receives.poll(1)).isZero();
  }

  @Test
  void memoryOfThePeerIsWrittenAndThePeerNotified() {
    Pair pair = loopback.connect();
    pair.server().receive(0, 0);
    pair.client().write(0, "written");
    pair.client().nextSend().setRemote(0, pair.server().address(512), serverKey(pair));
    pair.client().nextSend().setImmediate(0, IMMEDIATE);
    pair.client().send(SendOperation.RDMA_WRITE_WITH_IMMEDIATE, 7, 0, 7, SendChain.SIGNALED);

    Completion received = pair.server().nextReceived();
    assertThat(received.status()).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(received.receive()).isTrue();
    assertThat(received.immediate()).contains(IMMEDIATE);
    assertThat(received.length()).isEqualTo(7);
    assertThat(pair.server().read(512, 7)).isEqualTo("written");
  }

  @Test
  void memoryOfThePeerIsRead() {
    Pair pair = loopback.connect();
    pair.server().write(512, "to be read");
    pair.client().nextSend().setRemote(0, pair.server().address(512), serverKey(pair));
    pair.client().send(SendOperation.RDMA_READ, 7, 128, 10, SendChain.SIGNALED);
    assertThat(pair.client().nextSent().status()).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(pair.client().read(128, 10)).isEqualTo("to be read");
  }

  @Test
  void memoryThatThePeerMayNotWriteIsNotWritten() {
    Pair pair = loopback.connect();
    try (MemoryRegion region = pair.server().domain.allocate(4096, AccessFlags.LOCAL_WRITE)) {
      pair.client().nextSend().setRemote(0, region.segment().address(), region.remoteKey());
      pair.client().send(SendOperation.RDMA_WRITE, 7, 0, 7, SendChain.SIGNALED);
      assertThat(pair.client().nextSent().status()).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    }
  }

  @Test
  void receivesMayBeShared() {
    ConnectionParameters parameters = Loopback.parameters("");
    Pair one = loopback.connect(true, parameters);
    one.server().receive(0, 64);
    one.server().receive(64, 64);
    one.client().write(0, "shared");
    one.client().send(SendOperation.SEND, 1, 0, 6, SendChain.SIGNALED);
    Completion received = one.server().nextReceived();
    assertThat(received.status()).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(received.queuePair()).isEqualTo(one.server().queuePair.number());
    assertThat(one.server().read((int) received.id(), 6)).isEqualTo("shared");
  }

  @Test
  void aFullQueueRejectsMoreAndReturnsTheFailedRequest() {
    Pair pair = loopback.connect();
    int room = pair.server().queuePair.sizes().receives();
    ReceiveChain chain = new ReceiveChain(4 * room); // soft-RoCE has more entries than reported
    for (int i = 0; i < chain.capacity(); i++) {
      chain.set(i, i, pair.server().address(0), 64, pair.server().memory.localKey());
    }
    assertThat(pair.server().queuePair.post(chain, 0, chain.capacity())).isEqualTo(-Errno.ENOMEM);
    int failed = chain.failedIndex();
    assertThat(failed).isBetween(room, chain.capacity() - 1);

    // The chain is complete again, and the requests before the failed one were posted.
    assertThat(pair.server().queuePair.post(chain, failed, 1)).isEqualTo(-Errno.ENOMEM);
    assertThat(chain.failedIndex()).isEqualTo(failed);
    pair.server().queuePair.toError();
    for (int i = 0; i < failed; i++) {
      assertThat(pair.server().nextReceived().id()).isEqualTo(i);
    }
    assertThat(pair.server().receives.poll(1)).isZero();
  }

  @Test
  void aMessageThatIsTooLongFailsOnBothSides() {
    Pair pair = loopback.connect();
    pair.server().receive(0, 16);
    pair.client().send(SendOperation.SEND, 7, 0, 64, SendChain.SIGNALED);
    Completion sent = pair.client().nextSent();
    Completion received = pair.server().nextReceived();
    assertThat(sent.id()).isEqualTo(7);
    assertThat(received.id()).isZero();
    // Soft-RoCE reports operation errors; other devices conform to the specification.
    boolean soft = RdmaDevice.name().startsWith("rxe");
    assertThat(sent.status())
        .isEqualTo(
            soft
                ? CompletionStatus.REMOTE_OPERATION_ERROR
                : CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
    assertThat(received.status())
        .isEqualTo(
            soft
                ? CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR
                : CompletionStatus.LOCAL_LENGTH_ERROR);
    assertThat(pair.server().read(16, 48)).isEqualTo("\0".repeat(48));
  }

  @Test
  void aMessageThatFindsNoReceiveFailsWithoutRetries() {
    Pair pair = loopback.connect(false, new ConnectionParameters(new byte[0], 4, 4, 7, 0));
    pair.server().queuePair.setMinRnrTimer(1);
    pair.client().send(SendOperation.SEND, 7, 0, 64, SendChain.SIGNALED);
    assertThat(pair.client().nextSent().status()).isEqualTo(CompletionStatus.RNR_RETRY_EXCEEDED);
  }

  @Test
  void theErrorStateFlushesThePostedRequests() {
    Pair pair = loopback.connect();
    for (int i = 0; i < 3; i++) {
      pair.server().receive(i * 64, 64);
    }
    pair.server().queuePair.toError();
    for (int i = 0; i < 3; i++) {
      Completion flushed = pair.server().nextReceived();
      assertThat(flushed.id()).isEqualTo(i * 64L);
      assertThat(flushed.status()).isEqualTo(CompletionStatus.FLUSHED);
    }
  }

  @Test
  void theDisconnectOfEachSideIsReportedToTheOtherAndFlushesItsRequests() {
    Pair pair = loopback.connect();
    pair.server().receive(0, 64);
    assertThat(pair.client().id.disconnect()).isZero();
    loopback.await(CmEvent.Type.DISCONNECTED, pair.server().id.address());
    assertThat(pair.server().id.disconnect()).isZero();
    loopback.await(CmEvent.Type.DISCONNECTED, pair.client().id.address());
    assertThat(pair.server().nextReceived().status()).isEqualTo(CompletionStatus.FLUSHED);
  }

  @Test
  void privateDataIsExchangedInBothDirections() {
    CmId listener = loopback.listen();
    End client = loopback.client(listener.port());
    assertThat(client.id.setAckTimeout(14)).isTrue();
    String longest = "x".repeat(ConnectionParameters.MAX_REQUEST_DATA);
    client.id.connect(Loopback.parameters(longest));
    CmEvent request = loopback.awaitRequest(listener);
    assertThat(request.type()).isEqualTo(CmEvent.Type.CONNECT_REQUEST);
    assertThat(text(request)).isEqualTo(longest);

    End server = loopback.server(request, false);
    assertThat(server.id.isAcceptable()).isTrue();
    String answer = "y".repeat(ConnectionParameters.MAX_ACCEPT_DATA);
    server.id.accept(Loopback.parameters(answer));
    CmEvent established = loopback.await(CmEvent.Type.ESTABLISHED, client.id.address());
    assertThat(established.status()).isZero();
    assertThat(text(established)).isEqualTo(answer);
  }

  @Test
  void shortPrivateDataIsPaddedByZeros() {
    CmId listener = loopback.listen();
    End client = loopback.client(listener.port());
    client.id.connect(Loopback.parameters("abc"));
    CmEvent request = loopback.awaitRequest(listener);
    byte[] expected =
        Arrays.copyOf(
            "abc".getBytes(StandardCharsets.UTF_8), ConnectionParameters.MAX_REQUEST_DATA);
    assertThat(request.privateData()).isEqualTo(expected);
    loopback.closeLater(loopback.channel.adopt(request.id()));
  }

  @Test
  void aRequestWithTooMuchPrivateDataIsRefused() {
    CmId listener = loopback.listen();
    End client = loopback.client(listener.port());
    assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(() ->
            client.id.connect(
                Loopback.parameters("x".repeat(ConnectionParameters.MAX_REQUEST_DATA + 1))))
        .withMessageStartingWith("rdma_connect: Invalid argument (errno 22)");
  }

  @Test
  void aClientIsRejectedWithTheReason() {
    CmId listener = loopback.listen();
    End client = loopback.client(listener.port());
    client.id.connect(Loopback.parameters(""));
    CmEvent request = loopback.awaitRequest(listener);
    String why = "n".repeat(ConnectionParameters.MAX_REJECT_DATA);
    try (CmId id = loopback.channel.adopt(request.id())) {
      id.reject(why.getBytes(StandardCharsets.UTF_8));
    }
    CmEvent rejected = loopback.await(CmEvent.Type.REJECTED, client.id.address());
    assertThat(rejected.status()).isEqualTo(CmEvent.REJECTED_BY_CONSUMER);
    assertThat(text(rejected)).isEqualTo(why);
  }

  @Test
  void theKernelRejectsAClientIfThereIsNoListener() {
    CmId listener = loopback.channel.createId();
    listener.bind(new InetSocketAddress(loopback.address, 0));
    int port = listener.port();
    listener.close();
    End client = loopback.client(port);
    client.id.connect(Loopback.parameters(""));
    CmEvent rejected = loopback.await(CmEvent.Type.REJECTED, client.id.address());
    assertThat(rejected.status()).isNotZero().isNotEqualTo(CmEvent.REJECTED_BY_CONSUMER);
  }

  @Test
  void aPortHasOnlyOneListener() {
    CmId listener = loopback.listen();
    InetSocketAddress taken = new InetSocketAddress(loopback.address, listener.port());
    try (CmId second = loopback.channel.createId()) {
      assertThatExceptionOfType(VerbsException.class)
          .isThrownBy(() -> {
            second.bind(taken);
            second.listen(1);
          })
          .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE));
    }
  }

  @Test
  void anAddressWithoutDeviceIsNamedInTheException() {
    try (CmId id = loopback.channel.createId()) {
      assertThatExceptionOfType(VerbsException.class)
          .isThrownBy(() -> id.bind(new InetSocketAddress("203.0.113.7", 1)))
          .withMessageStartingWith("rdma_bind_addr(203.0.113.7:1): ")
          .satisfies(e -> assertThat(e.errno()).isIn(Errno.ENODEV, Errno.EADDRNOTAVAIL));
    }
  }

  private static int serverKey(Pair pair) {
    return pair.server().memory.remoteKey();
  }

  private static String text(CmEvent event) {
    return new String(event.privateData(), StandardCharsets.UTF_8);
  }
}
