// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.ConnectionState;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.FerruleException;
import dev.ferrule.Listener;
import dev.ferrule.ProtocolException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.VersionMismatchException;
import dev.ferrule.rdma.connection.Hello;
import dev.ferrule.sendrecv.wire.Immediate;
import dev.ferrule.sendrecv.wire.Offer;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.cm.CmEvent;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A peer that violates the protocol, on purpose or because it is another program: the violation is
 * reported to the program, and the listener still serves others.
 */
@RdmaTest
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostilePeerTest {

  private static final int RECEIVES = 8;
  private static final int MAX_MESSAGE = 4096;
  private static final String QUERY = "?receives=" + RECEIVES + "&maxMessage=" + MAX_MESSAGE;

  private Listener listener;

  @BeforeEach
  void listen() {
    listener = Wires.listen(listenQuery());
  }

  /** The options of the listener under test. */
  String listenQuery() {
    return QUERY;
  }

  @AfterEach
  void theListenerStillServesOthers() {
    try (Wires.Pair pair = Wires.pair(listener, QUERY)) {
      Numbered.send(pair.client().sender(), 1);
      try (ReceiveRegion message = pair.server().receiver().receive(Task.PATIENCE)) {
        Numbered.check(message, 1);
      }
    } finally {
      listener.close();
    }
  }

  private static byte[] hello(int version, Hello.Kind kind) {
    Offer offer = new Offer(true, MAX_MESSAGE, RawPeer.RECEIVES - 4);
    return Offer.HELLO.encode(new Hello(version, kind, 0, offer.body(), new byte[0]));
  }

  /** Returns immediate data with valid counts for a peer that has received nothing yet. */
  private static int immediate(int type) {
    return Immediate.of(type, RawPeer.RECEIVES - 4, 0);
  }

  static Stream<Arguments> garbage() {
    byte[] noise = new byte[56];
    new Random(1).nextBytes(noise);
    byte[] unknownKind = hello(Offer.VERSION, Hello.Kind.CONNECT);
    unknownKind[5] = 99;
    byte[] longPayload = hello(Offer.VERSION, Hello.Kind.CONNECT);
    longPayload[6] = (byte) 200;
    byte[] negativeLimit = hello(Offer.VERSION, Hello.Kind.CONNECT);
    negativeLimit[15] = (byte) 0x80;
    byte[] hugeGrant = hello(Offer.VERSION, Hello.Kind.CONNECT);
    hugeGrant[18] = 1;
    byte[] hugeMessages = hello(Offer.VERSION, Hello.Kind.CONNECT);
    hugeMessages[15] = (byte) 0x7f; // the other side would need gigabytes
    return Stream.of(
        Arguments.of("nothing", new byte[0]),
        Arguments.of("noise", noise),
        Arguments.of("one byte", new byte[] {'F'}),
        Arguments.of("the other side's hello", hello(Offer.VERSION, Hello.Kind.ACCEPT)),
        Arguments.of("an unknown kind", unknownKind),
        Arguments.of("a payload longer than the private data", longPayload),
        Arguments.of("a negative maxMessage", negativeLimit),
        Arguments.of("a grant of 65536", hugeGrant),
        Arguments.of("a maxMessage of 2 GiB", hugeMessages));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("garbage")
  void aClientWithAnInvalidHelloIsRefused(String what, byte[] privateData) {
    try (RawPeer peer = RawPeer.connect(listener.uri().getPort(), privateData)) {
      assertThat(peer.answer().type()).as(what).isEqualTo(CmEvent.Type.REJECTED);
      Hello refusal = Offer.HELLO.decode(peer.answer().privateData()).orElseThrow();
      assertThat(refusal.kind()).isEqualTo(Hello.Kind.REFUSE);
      assertThat(new String(refusal.payload(), StandardCharsets.UTF_8))
          .contains("does not speak this protocol");
    }
    assertThat(listener.tryNextRequest()).isNull();
  }

  @Test
  void aClientOfAnotherVersionReceivesTheListenersVersion() {
    try (RawPeer peer = RawPeer.connect(listener.uri().getPort(), hello(9, Hello.Kind.CONNECT))) {
      assertThat(peer.answer().type()).isEqualTo(CmEvent.Type.REJECTED);
      Hello refusal = Offer.HELLO.decode(peer.answer().privateData()).orElseThrow();
      assertThat(refusal.kind()).isEqualTo(Hello.Kind.VERSION_MISMATCH);
      assertThat(refusal.version()).isEqualTo(Offer.VERSION);
    }
  }

  private static FerruleException connectingFails(Consumer<RawPeer.RawListener> server) {
    try (RawPeer.RawListener raw = new RawPeer.RawListener()) {
      Task<Connection> connecting = Task.start(() -> Wires.connect(raw.address() + QUERY, ""));
      server.accept(raw);
      Throwable failure = connecting.failure();
      assertThat(failure).isInstanceOf(FerruleException.class).hasMessageContaining(raw.address());
      return (FerruleException) failure;
    }
  }

  @Test
  void aListenerThatRefusesAnotherVersionMakesTheClientNameBoth() {
    FerruleException failure =
        connectingFails(raw -> raw.reject(hello(9, Hello.Kind.VERSION_MISMATCH)));
    assertThat(failure)
        .isInstanceOf(VersionMismatchException.class)
        .hasMessageContaining("version 9")
        .hasMessageContaining("version " + Offer.VERSION);
  }

  @Test
  void aListenerThatAcceptsInAnotherVersionMakesTheClientNameBoth() {
    FerruleException failure =
        connectingFails(raw -> raw.accept(hello(9, Hello.Kind.ACCEPT)).close());
    assertThat(failure)
        .isInstanceOf(VersionMismatchException.class)
        .hasMessageContaining("version 9")
        .hasMessageContaining("version " + Offer.VERSION);
  }

  @Test
  void aListenerThatAcceptsWithGarbageIsReportedAsNotFerrule() {
    FerruleException failure =
        connectingFails(raw ->
            raw.accept("hello, world of sockets".getBytes(StandardCharsets.US_ASCII)).close());
    assertThat(failure)
        .isInstanceOf(ProtocolException.class)
        .hasMessageContaining("not Ferrule")
        .hasMessageContaining("hello=off");
  }

  @Test
  void aRejectionWithGarbageIsReportedAsARefusal() {
    FerruleException failure = connectingFails(raw -> raw.reject(new byte[] {1, 2, 3}));
    assertThat(failure).isInstanceOf(ConnectionRefusedException.class);
  }

  @ParameterizedTest
  @EnumSource(names = {"REFUSE", "NO_ROOM"})
  void controlCharactersOfARefusalAreEscaped(Hello.Kind kind) {
    byte[] text = "\033[2Jgo\naway".getBytes(StandardCharsets.US_ASCII);
    FerruleException failure = connectingFails(raw -> raw.reject(Offer.HELLO.encode(kind, text)));
    assertThat(failure).hasMessageEndingWith("\\u001b[2Jgo\\u000aaway");
  }

  @Test
  void aClientThatDisconnectsAtOnceDisturbsNoOther() {
    for (int i = 0; i < 3; i++) {
      Task<RawPeer> connecting =
          Task.start(() ->
              RawPeer.connect(listener.uri().getPort(), hello(Offer.VERSION, Hello.Kind.CONNECT)));
      Connection connection = listener.accept(Task.PATIENCE);
      connecting.result().close();
      assertThatThrownBy(() -> connection.receiver().receive(Task.PATIENCE))
          .isInstanceOf(FerruleException.class);
      connection.close();
    }
  }

  /** Connects with a valid hello, violates the protocol, and checks that this is reported. */
  private void expectViolation(Consumer<RawPeer> wrong, int goodMessages, String... words) {
    Task<Connection> accepting = Task.start(() -> listener.accept(Task.PATIENCE));
    try (RawPeer peer =
            RawPeer.connect(listener.uri().getPort(), hello(Offer.VERSION, Hello.Kind.CONNECT));
        Connection connection = accepting.result()) {
      Task<ReceiveRegion> waiting = null;
      if (goodMessages == 0) {
        waiting = Task.start(() -> connection.receiver().receive());
      }
      wrong.accept(peer);

      for (int i = 0; i < goodMessages; i++) {
        try (ReceiveRegion message = connection.receiver().receive(Task.PATIENCE)) {
          Numbered.check(message, i);
        }
      }
      Throwable failure =
          waiting == null
              ? Task.start(() -> connection.receiver().receive()).failure()
              : waiting.failure();
      RawPeer.assertViolationReported(connection, failure, words);
    }
  }

  @Test
  void aMessageWithoutImmediateDataIsAProtocolError() {
    expectViolation(peer -> peer.send(new byte[10]), 0, "without immediate data", "hello=off");
  }

  @Test
  void aMessageOfAnUnknownTypeIsAProtocolError() {
    expectViolation(peer -> peer.send(new byte[10], immediate(7)), 0, "unknown type 7");
  }

  @Test
  void invalidCreditsAreAProtocolError() {
    expectViolation(
        peer -> peer.send(new byte[10], Immediate.of(Immediate.MESSAGE, 60_000, 0)),
        0,
        "credit count went backwards");
    expectViolation(
        peer -> peer.send(new byte[10], Immediate.of(Immediate.MESSAGE, RawPeer.RECEIVES - 4, 99)),
        0,
        "credit count went backwards");
  }

  @Test
  void moreMessagesThanCreditsAreAProtocolErrorAfterTheValidOnes() {
    expectViolation(
        peer -> {
          for (int i = 0; i < RECEIVES + 2; i++) {
            peer.send(Numbered.message(i), immediate(Immediate.MESSAGE));
          }
        },
        RECEIVES,
        "more messages than it had credit for");
  }

  @Test
  void aMessageLongerThanMaxMessageIsAProtocolError() {
    expectViolation(
        peer -> peer.send(new byte[MAX_MESSAGE + 1], immediate(Immediate.MESSAGE)),
        0,
        "maxMessage");
  }

  /**
   * Each grant consumes a receive. To a peer that confirms nothing, Ferrule sends at most 3
   * confirmations, each of up to 4 grants, and then tolerates 4 more grants.
   */
  @Test
  void moreGrantsThanMayBeUnconfirmedAreAProtocolError() {
    expectViolation(
        peer -> {
          for (int i = 0; i < 3 * 4 + 4 + 1; i++) {
            if (peer.send(new byte[0], immediate(Immediate.GRANT)) != CompletionStatus.SUCCESS) {
              break; // the connection has ended already
            }
          }
        },
        0,
        "more control messages");
  }

  @Test
  void aPeerThatGrantsAndSendsGoodbyeDoesNoHarm() {
    Task<Connection> accepting = Task.start(() -> listener.accept(Task.PATIENCE));
    try (RawPeer peer =
            RawPeer.connect(listener.uri().getPort(), hello(Offer.VERSION, Hello.Kind.CONNECT));
        Connection connection = accepting.result()) {
      Task<ReceiveRegion> waiting = Task.start(() -> connection.receiver().receive());
      peer.send(new byte[0], immediate(Immediate.GRANT));
      peer.send(new byte[0], immediate(Immediate.GRANT));
      peer.send(Numbered.message(1), immediate(Immediate.MESSAGE));
      try (ReceiveRegion message = waiting.result()) {
        Numbered.check(message, 1);
      }
      peer.send(new byte[0], immediate(Immediate.GOODBYE));
      assertThatThrownBy(() -> connection.receiver().receive(Task.PATIENCE))
          .isInstanceOf(EndOfStreamException.class);
      assertThat(connection.state()).isEqualTo(ConnectionState.CLOSED_BY_PEER);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aMessageOrEndAfterTheEndOfAPeersMessagesIsAProtocolError(boolean message) {
    Task<Connection> accepting = Task.start(() -> listener.accept(Task.PATIENCE));
    try (RawPeer peer =
            RawPeer.connect(listener.uri().getPort(), hello(Offer.VERSION, Hello.Kind.CONNECT));
        Connection connection = accepting.result()) {
      peer.send(Numbered.message(0), immediate(Immediate.MESSAGE));
      peer.send(new byte[0], immediate(Immediate.END));
      try (ReceiveRegion first = connection.receiver().receive(Task.PATIENCE)) {
        Numbered.check(first, 0);
      }
      assertThatThrownBy(() -> connection.receiver().receive(Task.PATIENCE))
          .isInstanceOf(EndOfStreamException.class);
      peer.send(new byte[0], immediate(Immediate.GRANT));
      assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);

      peer.send(new byte[0], immediate(message ? Immediate.MESSAGE : Immediate.END));

      String part = message ? "after the end of its messages" : "the end of its messages twice";
      Task.await("the violation is detected", () -> detectsViolation(connection, part));
      assertThat(connection.failure()).isInstanceOf(ProtocolException.class);
    }
  }

  private static boolean detectsViolation(Connection connection, String part) {
    try {
      connection.receiver().tryReceive();
      throw new AssertionError("neither the end of the messages nor a violation was reported");
    } catch (EndOfStreamException e) {
      return false;
    } catch (ProtocolException e) {
      assertThat(e).hasMessageContaining(part);
      return true;
    }
  }

  /** The flushed sends or probes of such a program do not carry the cause. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aProgramThatDoesNotReceiveIsInformedThatAMessageWasTooLong(boolean sending) {
    Task<Connection> accepting = Task.start(() -> listener.accept(Task.PATIENCE));
    try (RawPeer peer =
            RawPeer.connect(listener.uri().getPort(), hello(Offer.VERSION, Hello.Kind.CONNECT));
        Connection connection = accepting.result()) {
      assertThat(peer.send(new byte[MAX_MESSAGE + 1], immediate(Immediate.MESSAGE)))
          .isNotEqualTo(CompletionStatus.SUCCESS);

      NeverReceives.assertViolationReported(
          connection, sending, "longer than this side's maxMessage");
    }
  }
}
