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
import dev.ferrule.magicring.ring.Mapping;
import dev.ferrule.magicring.ring.RingCursor;
import dev.ferrule.magicring.wire.Acknowledgment;
import dev.ferrule.magicring.wire.RingOffer;
import dev.ferrule.rdma.connection.Hello;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.cm.CmEvent;
import java.lang.foreign.MemorySegment;
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
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A peer that violates magicring's protocol, on purpose or because it is another program: the
 * violation is reported to the program, and the listener still serves others.
 */
@RdmaTest
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostileRingPeerTest {

  private static final String SCHEME = "magicring";
  private static final int WINDOW = 4;
  private static final int RING = 4096;
  private static final int MAX_MESSAGE = RING;
  private static final String QUERY =
      "?ring=" + RING + "&window=" + WINDOW + "&maxMessage=" + MAX_MESSAGE;

  private Listener listener;

  @BeforeEach
  void listen() {
    listener = Wires.listen(SCHEME + QUERY);
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

  /** Returns a valid hello of a peer with a ring that has a given key. */
  private static byte[] hello(int version, Hello.Kind kind, int key) {
    RingOffer offer = new RingOffer(false, false, key, RawPeer.RING, MAX_MESSAGE, WINDOW);
    return RingOffer.HELLO.encode(new Hello(version, kind, 0, offer.body(), new byte[0]));
  }

  private static byte[] hello() {
    return hello(RingOffer.VERSION, Hello.Kind.CONNECT, 1);
  }

  /** Returns a valid hello except for one byte. */
  private static byte[] helloWith(int index, int value) {
    byte[] hello = hello();
    hello[index] = (byte) value;
    return hello;
  }

  static Stream<Arguments> garbage() {
    byte[] noise = new byte[56];
    new Random(1).nextBytes(noise);
    byte[] ringless = hello();
    ringless[16] = 0; // the only byte of the size, in pages, that is not 0
    byte[] senderWithRing = helloWith(7, 2); // simplex, of a client that has a ring
    return Stream.of(
        Arguments.of("nothing", new byte[0]),
        Arguments.of("noise", noise),
        Arguments.of("one byte", new byte[] {'F'}),
        Arguments.of("the other side's hello", hello(RingOffer.VERSION, Hello.Kind.ACCEPT, 1)),
        Arguments.of("an unknown kind", helloWith(5, 99)),
        Arguments.of("a payload longer than the private data", helloWith(6, 200)),
        Arguments.of("an unknown flag", helloWith(7, 4)),
        Arguments.of("no ring", ringless),
        Arguments.of("a ring that it does not need", senderWithRing),
        Arguments.of("a negative maxMessage", helloWith(23, 0x80)),
        Arguments.of("a maxMessage of 2 GiB", helloWith(23, 0x7f)),
        Arguments.of("a window of 32772", helloWith(25, 0x80)),
        Arguments.of("no window", helloWith(24, 0)),
        Arguments.of("a reserved byte that is not 0", helloWith(26, 1)));
  }

  private static String refusal(RawPeer peer) {
    assertThat(peer.answer().type()).isEqualTo(CmEvent.Type.REJECTED);
    Hello refusal = RingOffer.HELLO.decode(peer.answer().privateData()).orElseThrow();
    assertThat(refusal.kind()).isEqualTo(Hello.Kind.REFUSE);
    return new String(refusal.payload(), StandardCharsets.UTF_8);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("garbage")
  void aClientWithAnInvalidHelloIsRefused(String what, byte[] privateData) {
    try (RawPeer peer = RawPeer.connect(listener.uri().getPort(), privateData)) {
      assertThat(refusal(peer)).as(what).contains("does not speak this protocol");
    }
    assertThat(listener.tryNextRequest()).isNull();
  }

  @Test
  void aClientOfAnotherVersionReceivesTheListenersVersion() {
    try (RawPeer peer =
        RawPeer.connect(listener.uri().getPort(), hello(9, Hello.Kind.CONNECT, 1))) {
      assertThat(peer.answer().type()).isEqualTo(CmEvent.Type.REJECTED);
      Hello refusal = RingOffer.HELLO.decode(peer.answer().privateData()).orElseThrow();
      assertThat(refusal.kind()).isEqualTo(Hello.Kind.VERSION_MISMATCH);
      assertThat(refusal.version()).isEqualTo(RingOffer.VERSION);
    }
  }

  @Test
  void theRefusalOfAClientThatExpectsMessagesFromAReceivingListenerStatesTheFix() {
    try (Listener receiving = Wires.listen(SCHEME + QUERY + "&simplex=on");
        RawPeer peer = RawPeer.connect(receiving.uri().getPort(), hello())) {
      assertThat(refusal(peer)).contains("simplex=on");
    }
  }

  private static FerruleException connectingFails(Consumer<RawPeer.RawListener> server) {
    try (RawPeer.RawListener raw = new RawPeer.RawListener()) {
      String address = raw.address(SCHEME);
      Task<Connection> connecting = Task.start(() -> Wires.connect(address + QUERY, ""));
      server.accept(raw);
      Throwable failure = connecting.failure();
      assertThat(failure).isInstanceOf(FerruleException.class).hasMessageContaining(address);
      return (FerruleException) failure;
    }
  }

  @Test
  void aListenerThatAcceptsInAnotherVersionMakesTheClientNameBoth() {
    assertThat(connectingFails(raw -> raw.accept(hello(9, Hello.Kind.ACCEPT, 1)).close()))
        .isInstanceOf(VersionMismatchException.class)
        .hasMessageContaining("version 9")
        .hasMessageContaining("version " + RingOffer.VERSION);
  }

  @Test
  void aListenerThatAcceptsWithGarbageIsReportedAsNotFerrule() {
    byte[] ringless = hello(RingOffer.VERSION, Hello.Kind.ACCEPT, 1);
    ringless[16] = 0;
    assertThat(connectingFails(raw -> raw.accept(ringless).close()))
        .isInstanceOf(ProtocolException.class)
        .hasMessageContaining("not Ferrule")
        .hasMessageContaining("magicring");
  }

  @Test
  void aRejectionWithGarbageIsReportedAsARefusal() {
    assertThat(connectingFails(raw -> raw.reject(new byte[] {1, 2, 3})))
        .isInstanceOf(ConnectionRefusedException.class);
  }

  /** A peer with a valid hello that keeps track of its position in the listener's ring. */
  private static final class RingPeer implements AutoCloseable {

    private final RawPeer raw;
    private final RingOffer offer;
    private final RingCursor tail;

    RingPeer(int port) {
      raw = RawPeer.connect(port, key -> hello(RingOffer.VERSION, Hello.Kind.CONNECT, key));
      assertThat(raw.answer().type()).isEqualTo(CmEvent.Type.ESTABLISHED);
      offer = RingOffer.of(RingOffer.HELLO.decode(raw.answer().privateData()).orElseThrow());
      tail = new RingCursor(offer.ringSize(), Mapping.MAGIC);
    }

    /** Writes a message at the right position, and announces its length. */
    CompletionStatus write(byte[] message, int immediate) {
      return raw.write(message, immediate, tail.advance(message.length), offer.key());
    }

    CompletionStatus write(byte[] message) {
      return write(message, message.length);
    }

    void control(int type, int wantsTaken, long messagesFreed, long bytesFreed) {
      raw.send(bytesOfControl(type, wantsTaken, messagesFreed, bytesFreed));
    }

    @Override
    public void close() {
      raw.close();
    }
  }

  private static byte[] bytesOfControl(
      int type, int wantsTaken, long messagesFreed, long bytesFreed) {
    byte[] bytes = new byte[Acknowledgment.SIZE];
    Acknowledgment.write(
        MemorySegment.ofArray(bytes), 0, type, wantsTaken, messagesFreed, bytesFreed);
    return bytes;
  }

  /**
   * Runs an action of a peer, to which messages were sent before, and checks that it is reported as
   * a violation.
   */
  private void expectViolation(
      int sentBefore, Consumer<RingPeer> wrong, int goodMessages, String... words) {
    Task<Connection> accepting = Task.start(() -> listener.accept(Task.PATIENCE));
    try (RingPeer peer = new RingPeer(listener.uri().getPort());
        Connection connection = accepting.result()) {
      for (int i = 0; i < sentBefore; i++) {
        connection.sender().send(MemorySegment.ofArray(new byte[10]));
      }
      // expected messages are held to the end, so that nothing is acknowledged
      Task<ReceiveRegion> waiting =
          goodMessages > 0 ? null : Task.start(() -> connection.receiver().receive());
      wrong.accept(peer);

      Throwable failure =
          waiting != null
              ? waiting.failure()
              : Task.start(
                      () -> {
                        for (int i = 0; i < goodMessages; i++) {
                          Numbered.check(connection.receiver().receive(Task.PATIENCE), i);
                        }
                        return connection.receiver().receive(Task.PATIENCE);
                      })
                  .failure();
      RawPeer.assertViolationReported(connection, failure, words);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 9, 11, RING, RING + 1, Integer.MAX_VALUE, -1, 1 << 31})
  void aLengthThatIsNotWhatTheDeviceWroteIsAProtocolError(int length) {
    expectViolation(
        0,
        peer -> peer.write(new byte[10], length),
        0,
        "a message of 10 bytes",
        "immediate data says " + Integer.toUnsignedString(length));
  }

  @Test
  void aMessageLongerThanMaxMessageIsAProtocolErrorAfterTheValidOnes() {
    expectViolation(
        0,
        peer -> {
          peer.write(Numbered.message(0));
          peer.write(new byte[MAX_MESSAGE + 1]);
        },
        1,
        "a message of " + (MAX_MESSAGE + 1) + " bytes",
        "the maximum is " + MAX_MESSAGE);
  }

  @Test
  void aMessageThatIsLongerThanTheRingIsAProtocolErrorAlthoughTheDeviceCanWriteIt() {
    expectViolation(
        0, peer -> peer.write(new byte[2 * RING]), 0, "a message of " + 2 * RING + " bytes");
  }

  @Test
  void moreMessagesThanTheWindowAreAProtocolErrorAfterTheValidOnes() {
    expectViolation(
        0,
        peer -> {
          for (int i = 0; i <= WINDOW; i++) {
            peer.write(Numbered.message(i));
          }
        },
        WINDOW,
        "more than " + WINDOW + " unacknowledged messages");
  }

  @Test
  void aMessageBeyondTheFreeSpaceOfTheRingIsAProtocolError() {
    expectViolation(
        0,
        peer -> {
          peer.write(Numbered.message(0)); // takes 8 bytes
          peer.write(new byte[RING - 7]);
        },
        1,
        "needs 4096 bytes of the ring, but 4088 are free");
  }

  /** Only the device can detect this, and ends the connection. */
  @ParameterizedTest
  @ValueSource(longs = {2 * RING - 9, 2 * RING, 1L << 40, -8, Long.MIN_VALUE})
  void aWriteOutsideOfTheRingIsRefusedByTheDevice(long offset) {
    Task<Connection> accepting = Task.start(() -> listener.accept(Task.PATIENCE));
    try (RingPeer peer = new RingPeer(listener.uri().getPort());
        Connection connection = accepting.result()) {
      Task<ReceiveRegion> waiting = Task.start(() -> connection.receiver().receive());

      assertThat(peer.raw.write(new byte[10], 10, offset, peer.offer.key())).isIn(RawPeer.REFUSED);

      assertThat(waiting.failure()).isInstanceOf(FerruleException.class);
      assertThat(connection.state()).isEqualTo(ConnectionState.FAILED);
    }
  }

  @Test
  void aWriteWithAKeyThatIsNotTheRingsIsRefusedByTheDevice() {
    Task<Connection> accepting = Task.start(() -> listener.accept(Task.PATIENCE));
    try (RingPeer peer = new RingPeer(listener.uri().getPort());
        Connection connection = accepting.result()) {
      Task<ReceiveRegion> waiting = Task.start(() -> connection.receiver().receive());

      assertThat(peer.raw.write(new byte[10], 10, 0, peer.offer.key() + 1)).isIn(RawPeer.REFUSED);

      assertThat(waiting.failure()).isInstanceOf(FerruleException.class);
      assertThat(connection.state()).isEqualTo(ConnectionState.FAILED);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aProgramThatDoesNotReceiveIsInformedThatThePeerWroteElsewhere(boolean sending) {
    Task<Connection> accepting = Task.start(() -> listener.accept(Task.PATIENCE));
    try (RingPeer peer = new RingPeer(listener.uri().getPort());
        Connection connection = accepting.result()) {
      assertThat(peer.raw.write(new byte[10], 10, 0, peer.offer.key() + 1)).isIn(RawPeer.REFUSED);

      NeverReceives.assertViolationReported(
          connection, sending, "the peer wrote to memory that is not this side's");
    }
  }

  @Test
  void anAcknowledgmentOfMoreThanWasSentIsAProtocolError() {
    expectViolation(
        2,
        peer -> peer.control(Acknowledgment.ACK, 0, 3, 48),
        0,
        "the peer acknowledged 3 messages, but only 2 were sent");
    expectViolation(
        0,
        peer -> peer.control(Acknowledgment.GOODBYE, 0, Long.MAX_VALUE, 0),
        0,
        "but only 0 were sent");
  }

  @Test
  void aDuplicatedAcknowledgmentIsAProtocolError() {
    expectViolation(
        2,
        peer -> {
          peer.control(Acknowledgment.ACK, 0, 1, 16);
          peer.control(Acknowledgment.ACK, 0, 1, 16);
        },
        0,
        "the peer acknowledged no more than");
    expectViolation(0, peer -> peer.control(Acknowledgment.ACK, 0, 0, 0), 0, "no more than");
  }

  @ParameterizedTest
  @ValueSource(
      ints = {Acknowledgment.ACK, Acknowledgment.WANT, Acknowledgment.END, Acknowledgment.GOODBYE})
  void anAcknowledgmentThatGoesBackwardsIsAProtocolError(int type) {
    expectViolation(
        2,
        peer -> {
          peer.control(Acknowledgment.ACK, 0, 2, 32);
          peer.control(type, 0, 1, 16);
        },
        0,
        "the peer acknowledged 1 messages, fewer than the 2 before");
    expectViolation(
        0, peer -> peer.control(type, 0, -1, 0), 0, "the peer acknowledged -1 messages");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aMessageOrEndAfterTheEndOfAPeersMessagesIsAProtocolError(boolean message) {
    Task<Connection> accepting = Task.start(() -> listener.accept(Task.PATIENCE));
    try (RingPeer peer = new RingPeer(listener.uri().getPort());
        Connection connection = accepting.result()) {
      peer.write(Numbered.message(0));
      peer.control(Acknowledgment.END, 0, 0, 0);
      try (ReceiveRegion first = connection.receiver().receive(Task.PATIENCE)) {
        Numbered.check(first, 0);
      }
      assertThatThrownBy(() -> connection.receiver().receive(Task.PATIENCE))
          .isInstanceOf(EndOfStreamException.class);
      peer.control(Acknowledgment.WANT, 0, 0, 0);
      assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);

      if (message) {
        peer.write(Numbered.message(1));
      } else {
        peer.control(Acknowledgment.END, 0, 0, 0);
      }

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

  @ParameterizedTest
  @ValueSource(longs = {0, 8, 10, 17, 32, -16, Long.MIN_VALUE})
  void anAcknowledgmentThatEndsWithinAMessageIsAProtocolError(long bytes) {
    expectViolation(
        2,
        peer -> peer.control(Acknowledgment.ACK, 0, 1, bytes),
        0,
        "the peer acknowledged " + bytes + " bytes with 1 messages, which took 16");
  }

  @Test
  void aControlMessageOfAnUnknownTypeIsAProtocolError() {
    expectViolation(0, peer -> peer.control(0, 0, 0, 0), 0, "control message", "unknown type");
    expectViolation(0, peer -> peer.control(5, 0, 0, 0), 0, "control message", "unknown type");
    expectViolation(
        0, peer -> peer.control(Acknowledgment.WANT | 1 << 16, 0, 0, 0), 0, "unknown type");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 23})
  void aControlMessageThatIsTooShortIsAProtocolError(int length) {
    expectViolation(
        0, peer -> peer.raw.send(new byte[length]), 0, "control message", length + " bytes", "24");
  }

  @ParameterizedTest
  @ValueSource(ints = {25, 4096})
  void aControlMessageThatIsTooLongIsAProtocolError(int length) {
    expectViolation(0, peer -> peer.raw.send(new byte[length]), 0, "control message", "too long");
  }

  @Test
  void aControlMessageWithImmediateDataIsAProtocolError() {
    byte[] want = bytesOfControl(Acknowledgment.WANT, 0, 0, 0);
    expectViolation(0, peer -> peer.raw.send(want, 0), 0, "control message");
  }

  @Test
  void aConfirmationOfWantsThatWereNeverSentIsAProtocolError() {
    expectViolation(
        0, peer -> peer.control(Acknowledgment.WANT, 1, 0, 0), 0, "confirmed 1 requests for space");
    expectViolation(
        1, peer -> peer.control(Acknowledgment.ACK, -1, 1, 16), 0, "requests for space");
  }

  @Test
  void aRingThatIsNotWhereTheHelloSaidIsAProtocolError() {
    Task<Connection> accepting = Task.start(() -> listener.accept(Task.PATIENCE));
    try (RawPeer peer =
            RawPeer.connect(
                listener.uri().getPort(),
                key -> hello(RingOffer.VERSION, Hello.Kind.CONNECT, key ^ 1));
        Connection connection = accepting.result()) {
      assertThat(peer.answer().type()).isEqualTo(CmEvent.Type.ESTABLISHED);
      Task<ReceiveRegion> waiting = Task.start(() -> connection.receiver().receive());
      long id = Numbered.send(connection.sender(), 0);

      assertThatThrownBy(() -> connection.sender().await(id, Task.PATIENCE))
          .isInstanceOf(ProtocolException.class)
          .hasMessageContaining("does not match its hello");
      assertThat(waiting.failure())
          .isInstanceOf(ProtocolException.class)
          .hasMessageContaining("does not match its hello");
    }
  }

  /**
   * In a simplex connection the client has no ring, so this side's accesses cannot be the cause.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aWriteWithAWrongKeyIsThePeersViolation(boolean simplex) {
    String options = QUERY + (simplex ? "&simplex=on" : "");
    RingOffer ringless = new RingOffer(false, true, 0, 0, 0, WINDOW);
    byte[] sendsOnly =
        RingOffer.HELLO.encode(
            new Hello(RingOffer.VERSION, Hello.Kind.CONNECT, 0, ringless.body(), new byte[0]));
    try (Listener receiving = Wires.listen(SCHEME + options)) {
      Task<Connection> accepting = Task.start(() -> receiving.accept(Task.PATIENCE));
      try (RawPeer peer =
              RawPeer.connect(
                  receiving.uri().getPort(),
                  key -> simplex ? sendsOnly : hello(RingOffer.VERSION, Hello.Kind.CONNECT, key));
          Connection connection = accepting.result()) {
        Task<ReceiveRegion> waiting = Task.start(() -> connection.receiver().receive());
        assertThat(peer.write(new byte[8], 8, 0, 12_345)).isIn(RawPeer.REFUSED);
        assertThat(waiting.failure())
            .isInstanceOf(ProtocolException.class)
            .hasMessageContaining("the peer wrote to memory that is not this side's ring");
      }
    }
  }

  /** The peer sends more wants than this side has receives; each of them is permitted. */
  @Test
  void aPeerThatSendsWantsForeverDoesNoHarm() {
    Task<Connection> accepting = Task.start(() -> listener.accept(Task.PATIENCE));
    try (RingPeer peer = new RingPeer(listener.uri().getPort());
        Connection connection = accepting.result()) {
      Task<ReceiveRegion> waiting = Task.start(() -> connection.receiver().receive());
      for (int i = 0; i < 300; i++) {
        peer.control(Acknowledgment.WANT, 0, 0, 0);
      }
      peer.write(Numbered.message(1));
      try (ReceiveRegion message = waiting.result()) {
        Numbered.check(message, 1);
      }
      assertThat(peer.raw.receive().bytes())
          .isEqualTo(bytesOfControl(Acknowledgment.ACK, 300, 1, 48));
      peer.control(Acknowledgment.GOODBYE, 0, 0, 0);
      assertThatThrownBy(() -> connection.receiver().receive(Task.PATIENCE))
          .isInstanceOf(EndOfStreamException.class);
      assertThat(connection.state()).isEqualTo(ConnectionState.CLOSED_BY_PEER);
    }
  }

  /** A peer that overwrites a held message corrupts that message only. */
  @Test
  void bytesWrittenAtOtherPositionsAreNoMessage() {
    Task<Connection> accepting = Task.start(() -> listener.accept(Task.PATIENCE));
    try (RingPeer peer = new RingPeer(listener.uri().getPort());
        Connection connection = accepting.result()) {
      peer.write(new byte[100]);
      try (ReceiveRegion held = connection.receiver().receive(Task.PATIENCE)) {
        peer.raw.write(Numbered.message(1), Numbered.message(1).length, 0, peer.offer.key());
        try (ReceiveRegion second = connection.receiver().receive(Task.PATIENCE)) {
          assertThat(held.length()).isEqualTo(100);
          assertThat(second.length()).isEqualTo(Numbered.message(1).length);
          assertThat(second.offset()).isEqualTo(104);
        }
      }
      assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
    }
  }
}
