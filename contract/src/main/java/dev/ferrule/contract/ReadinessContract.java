// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.ConnectionState;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.Readiness;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Readiness: a descriptor and a channel that are readable while a call may find something. */
public abstract class ReadinessContract extends Contract {

  private static final int CONNECTIONS = 20;
  private static final int MESSAGES_EACH = 50;
  private static final int SOAK_MESSAGES = Integer.getInteger("ferrule.soak.readyMessages", 0);
  private static final MemorySegment MESSAGE = MemorySegment.ofArray(new byte[100]);

  /**
   * Creates the tests.
   *
   * @param provider the provider under test
   */
  protected ReadinessContract(ProviderUnderTest provider) {
    super(provider);
  }

  private ConnectionOptions with(Readiness.Interest interest) {
    return options().set(StandardOptions.READINESS, interest).build();
  }

  private Pair connectWith(Readiness.Interest interest) {
    return connect(with(interest));
  }

  @Test
  void aConnectionThatDidNotRequestReadinessHasNone() {
    Pair pair = connect();
    for (Connection side : List.of(pair.client(), pair.server())) {
      assertThatThrownBy(side::readiness)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("readiness=receive");
    }
    assertThatThrownBy(listen()::readiness)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("readiness=receive");
  }

  @Test
  void eachSideRequestsReadinessForItself() {
    Pair pair = connect(with(Readiness.Interest.RECEIVE), provider.options());

    pair.server().sender().send(MESSAGE);

    assertThatThrownBy(pair.server()::readiness).isInstanceOf(IllegalStateException.class);
    PollCall.awaitReadable(pair.client().readiness().descriptor());
  }

  @Test
  void aMessageMakesTheDescriptorReadableUntilACheckFindsNothing() throws IOException {
    Pair pair = connectWith(Readiness.Interest.RECEIVE);
    Receiver receiver = pair.server().receiver();
    try (Watch watch = new Watch(pair.server().readiness())) {
      for (int round = 0; round < 20; round++) {
        watch.awaitQuiet(() -> assertThat(poll(receiver, 1)).isZero());

        pair.client().sender().send(MESSAGE);
        pair.client().sender().send(MESSAGE);

        watch.awaitReadable();
        eventually("the first message has arrived", () -> poll(receiver, 1) == 1);
        watch.awaitReadable(); // due to the second message
        eventually("the second message has arrived", () -> poll(receiver, 1) == 1);
        watch.awaitReadable(); // until a check finds nothing
      }
    }
  }

  @Test
  void tryReceiveAndReceiveWithATimeoutFindNothingAsWell() throws IOException {
    Pair pair = connectWith(Readiness.Interest.RECEIVE);
    Receiver receiver = pair.client().receiver();
    try (Watch watch = new Watch(pair.client().readiness())) {
      watch.awaitQuiet(() -> assertThat(receiver.tryReceive()).isNull());
      pair.server().sender().send(MESSAGE);
      watch.awaitReadable();
      receiver.receive(PATIENCE).close();

      watch.awaitQuiet(() -> assertTimesOut(receiver, Duration.ZERO));
      pair.server().sender().send(MESSAGE);
      watch.awaitReadable();
      receiver.receive(PATIENCE).close();

      watch.awaitQuiet(() -> assertTimesOut(receiver, Duration.ofMillis(2)));
      pair.server().sender().send(MESSAGE);
      watch.awaitReadable();
      receiver.receive(PATIENCE).close();
    }
  }

  private static void assertTimesOut(Receiver receiver, Duration timeout) {
    assertThatThrownBy(() -> receiver.receive(timeout))
        .isInstanceOf(OperationTimeoutException.class);
  }

  @Test
  void aMessageThatArrivesWhileAThreadIsBlockedAndTheNextOneAreFound() throws IOException {
    Pair pair = connectWith(Readiness.Interest.RECEIVE);
    Receiver receiver = pair.server().receiver();
    try (Watch watch = new Watch(pair.server().readiness())) {
      for (int round = 0; round < 20; round++) {
        watch.awaitQuiet(() -> poll(receiver, 1));
        Background<Boolean> blocked =
            inBackground("blocked", () -> receiver.receive(PATIENCE).close());
        pair.client().sender().send(MESSAGE);
        blocked.result();

        pair.client().sender().send(MESSAGE);
        watch.awaitReadable();
        receiver.receive(PATIENCE).close();
      }
    }
  }

  @Test
  void theDescriptorStaysReadableAfterTheEndOfTheConnection() throws IOException {
    Pair pair = connectWith(Readiness.Interest.RECEIVE);
    Receiver receiver = pair.server().receiver();
    try (Watch watch = new Watch(pair.server().readiness())) {
      watch.awaitQuiet(() -> poll(receiver, 1));

      pair.client().close();

      watch.awaitReadable();
      eventually("the end is found", () -> hasEnded(receiver));
      assertThat(hasEnded(receiver)).isTrue();
      assertThat(watch.isReadable()).isTrue();
    }
  }

  @Test
  void theDescriptorStaysReadableAfterTheEndOfThePeersMessages() throws IOException {
    Pair pair = connectWith(Readiness.Interest.RECEIVE);
    Receiver receiver = pair.server().receiver();
    try (Watch watch = new Watch(pair.server().readiness())) {
      watch.awaitQuiet(() -> poll(receiver, 1));

      pair.client().sender().close();

      watch.awaitReadable();
      eventually("the end is found", () -> hasEnded(receiver));
      assertThat(hasEnded(receiver)).isTrue();
      assertThat(watch.isReadable()).isTrue();
      assertThat(pair.server().state()).isEqualTo(ConnectionState.OPEN);
    }
  }

  private static boolean hasEnded(Receiver receiver) {
    try {
      receiver.poll((segment, offset, length) -> {}, 1);
      return false;
    } catch (EndOfStreamException e) {
      return true;
    }
  }

  @Test
  void roomAfterBackPressureMakesTheDescriptorReadableIfRequested() throws IOException {
    Pair pair = connectWith(Readiness.Interest.ALL);
    Sender sender = pair.client().sender();
    Receiver receiver = pair.server().receiver();
    try (Watch watch = new Watch(pair.client().readiness())) {
      int sent = 0;
      for (int round = 0; round < 5; round++) {
        // there may be room at any time, as the peer's device acknowledges late
        int sentNow = 0;
        do {
          sentNow += sendAll(sender, 100);
          poll(pair.client().receiver(), 1);
        } while (watch.isReadable());
        sent += sentNow;

        for (; sent > 0; sent--) {
          receiver.receive(PATIENCE).close();
        }

        watch.awaitReadable();
        SendRegion region = sender.claim(100, PATIENCE);
        region.commit();
        sent++;
      }
    }
  }

  /** How a program sends the message for which there was no room. */
  enum Sending {
    CLAIM {
      @Override
      void send(Sender sender) {
        sender.claim(100, PATIENCE).commit();
      }
    },
    SEND {
      @Override
      void send(Sender sender) {
        sender.send(MESSAGE);
      }
    },
    BATCH {
      @Override
      void send(Sender sender) {
        sender.stage(MESSAGE);
        sender.flush();
      }
    };

    abstract void send(Sender sender);
  }

  /** A loop that has nothing to send must be able to sleep. */
  @ParameterizedTest
  @EnumSource
  void roomIsNotReportedToAProgramThatDoesNotWaitForIt(Sending sending) throws IOException {
    Pair pair = connectWith(Readiness.Interest.ALL);
    Sender sender = pair.client().sender();
    Receiver receiver = pair.client().receiver();
    try (Watch watch = new Watch(pair.client().readiness())) {
      for (int round = 0; round < 4; round++) {
        watch.awaitQuiet(() -> assertThat(poll(receiver, 1)).isZero());
        receiveAll(pair.server(), sendAll(sender, 100));
        if (round % 2 == 0) {
          watch.awaitReadable();
        }
        sending.send(sender); // finds the room
        receiveAll(pair.server(), 1);
      }
      watch.awaitQuiet(() -> assertThat(poll(receiver, 1)).isZero());
    }
  }

  /** A short message may find room where a long one does not. */
  @Test
  void roomForALongMessageIsReportedAlthoughAShortOneWasSent() throws IOException {
    Pair pair = connectWith(Readiness.Interest.ALL);
    Sender sender = pair.client().sender();
    int longest = sender.maxMessage();
    try (Watch watch = new Watch(pair.client().readiness())) {
      watch.awaitQuiet(() -> assertThat(poll(pair.client().receiver(), 1)).isZero());
      int sent = sendAll(sender, longest);
      SendRegion little = sender.tryClaim(8);
      if (little != null) {
        little.commit();
        sent++;
      }
      receiveAll(pair.server(), sent);

      watch.awaitReadable();
      sender.claim(longest, PATIENCE).abort();
      watch.awaitQuiet(() -> assertThat(poll(pair.client().receiver(), 1)).isZero());
    }
  }

  @Test
  void aClaimThatTimesOutWaitsForRoom() throws IOException {
    Pair pair = connectWith(Readiness.Interest.ALL);
    Sender sender = pair.client().sender();
    try (Watch watch = new Watch(pair.client().readiness())) {
      watch.awaitQuiet(() -> assertThat(poll(pair.client().receiver(), 1)).isZero());
      receiveAll(pair.server(), claimAll(sender));

      watch.awaitReadable();
    }
  }

  /** Sends until a claim times out; returns the number of messages. */
  private static int claimAll(Sender sender) {
    int count = 0;
    while (true) {
      try {
        sender.claim(100, Duration.ZERO).commit();
        count++;
      } catch (OperationTimeoutException e) {
        return count;
      }
    }
  }

  private static void receiveAll(Connection connection, int messages) {
    for (int i = 0; i < messages; i++) {
      connection.receiver().receive(PATIENCE).close();
    }
  }

  /** Sends until there is no room; returns the number of messages. */
  private static int sendAll(Sender sender, int length) {
    int count = 0;
    SendRegion region = sender.tryClaim(length);
    while (region != null) {
      region.commit();
      count++;
      region = sender.tryClaim(length);
    }
    return count;
  }

  @Test
  void aWaitingClientMakesTheListenerReadable() throws IOException {
    Listener listener = listen(with(Readiness.Interest.RECEIVE));
    try (Watch watch = new Watch(listener.readiness())) {
      for (int round = 0; round < 3; round++) {
        watch.awaitQuiet(() -> assertThat(listener.tryNextRequest()).isNull());
        Background<Connection> client = connectInBackground(listener, patientOptions().build());

        watch.awaitReadable();

        ConnectionRequest request = listener.nextRequest(PATIENCE);
        closeAtEnd(request.accept(new byte[0]));
        client.result();
      }
      watch.awaitQuiet(() ->
          assertThatThrownBy(() -> listener.accept(Duration.ZERO))
              .isInstanceOf(OperationTimeoutException.class));
      watch.awaitQuiet(() -> assertThat(listener.tryAccept()).isNull());
      Background<Connection> client = connectInBackground(listener, patientOptions().build());

      watch.awaitReadable();
      closeAtEnd(listener.accept(PATIENCE));
      client.result();
    }
  }

  @Test
  void aClientIsAcceptedWithoutWaitingWheneverTheListenerIsReadable() throws IOException {
    Listener listener = listen(with(Readiness.Interest.RECEIVE));
    try (Watch watch = new Watch(listener.readiness())) {
      for (int round = 0; round < 3; round++) {
        Background<Connection> client = connectInBackground(listener, patientOptions().build());
        Connection accepted = null;
        while (accepted == null) {
          watch.awaitReadable();
          try {
            accepted = closeAtEnd(listener.accept(Duration.ZERO));
          } catch (OperationTimeoutException e) {
            // the client has not confirmed yet, or the readiness was spurious
          }
        }
        client.result();
      }
    }
  }

  @Test
  void theReadinessIsClosedWithItsOwner() throws Exception {
    Connection connection = connectWith(Readiness.Interest.ALL).client();
    Listener listener = listen(with(Readiness.Interest.RECEIVE));
    assertIsClosedWith(connection, connection.readiness());
    assertIsClosedWith(listener, listener.readiness());
  }

  private static void assertIsClosedWith(AutoCloseable owner, Readiness readiness)
      throws Exception {
    SelectableChannel channel = readiness.channel();
    assertThat(readiness.channel()).isSameAs(channel);
    assertThat(readiness.descriptor()).isEqualTo(readiness.descriptor());

    owner.close();

    assertThat(channel.isOpen()).isFalse();
    assertThatThrownBy(readiness::descriptor).isInstanceOf(ConnectionClosedException.class);
    assertThatThrownBy(readiness::channel).isInstanceOf(ConnectionClosedException.class);
  }

  @Test
  void manyConnectionsAreServedByOneSelector() throws IOException {
    List<Pair> pairs = new ArrayList<>();
    for (int i = 0; i < CONNECTIONS; i++) {
      pairs.add(connectWith(Readiness.Interest.RECEIVE));
    }
    List<Background<Boolean>> clients = new ArrayList<>();
    SelectorServer.serve(
        pairs.stream().map(Pair::server).toList(),
        MESSAGES_EACH,
        () ->
            pairs.forEach(
                pair -> clients.add(inBackground("client", () -> pingPong(pair.client())))));
    clients.forEach(Background::result); // the last answers may still be in flight
  }

  /** Clients connect at any time, and the listener's receiver receives their messages. */
  @Test
  void aListenersReadinessReportsClientsAndMessagesForItsReceiver() throws IOException {
    String scheme = provider.listenAddress().getScheme();
    assumeTrue(
        Ferrule.providers().stream()
            .filter(candidate -> candidate.scheme().equals(scheme))
            .flatMap(candidate -> candidate.options().stream())
            .anyMatch(option -> option.name().equals("singleReceiver")),
        "the provider has no single receiver for all connections of a listener");
    Listener listener =
        listen(
            options()
                .set("singleReceiver", "on")
                .set(StandardOptions.READINESS, Readiness.Interest.RECEIVE)
                .build());
    Receiver receiver = listener.receiver();
    List<Background<Boolean>> clients = new ArrayList<>();
    for (int i = 0; i < CONNECTIONS; i++) {
      clients.add(
          inBackground(
              "client",
              () -> {
                Connection client = Ferrule.connect(listener.uri(), patientOptions().build());
                pingPong(closeAtEnd(client));
              }));
    }
    try (Watch watch = new Watch(listener.readiness())) {
      int left = CONNECTIONS * MESSAGES_EACH;
      while (left > 0) {
        watch.awaitReadable();
        for (ConnectionRequest request = listener.tryNextRequest();
            request != null;
            request = listener.tryNextRequest()) {
          closeAtEnd(request.accept(new byte[0]));
        }
        for (ReceiveRegion message = receiver.tryReceive();
            message != null;
            message = receiver.tryReceive()) {
          message.connection().sender().send(message.segment());
          message.close();
          left--;
        }
      }
      clients.forEach(Background::result);
      watch.awaitQuiet(() -> {
        assertThat(listener.tryNextRequest()).isNull();
        assertThat(receiver.tryReceive()).isNull();
      });
    }
  }

  private static void pingPong(Connection client) {
    for (int i = 0; i < MESSAGES_EACH; i++) {
      client.sender().send(MESSAGE);
      client.receiver().receive(PATIENCE).close();
    }
  }

  /** Both sides wait by descriptors only, and pause at random: no wake-up is ever lost. */
  @Test
  void noWakeUpIsMissedInAStormOfMessages() {
    Pair pair = connectWith(Readiness.Interest.ALL);
    int messages = SOAK_MESSAGES > 0 ? SOAK_MESSAGES : provider.messages(20_000);
    Background<Boolean> server =
        inBackground("server", () -> storm(pair.server(), messages, new Random(1)));
    storm(pair.client(), messages, new Random(2));
    server.result();
  }

  /** Sends and receives a number of messages; waits for both by poll(2). */
  private static void storm(Connection connection, int messages, Random random) {
    Sender sender = connection.sender();
    Receiver receiver = connection.receiver();
    int descriptor = connection.readiness().descriptor();
    int sent = 0;
    int[] received = {0};
    while (sent < messages || received[0] < messages) {
      int before = sent + received[0];
      received[0] += poll(receiver, 1 + random.nextInt(20));
      SendRegion region = sent < messages ? sender.tryClaim(8 + random.nextInt(300)) : null;
      if (region != null) {
        region.commit();
        sent++;
      }
      if (random.nextInt(1_000) == 0) {
        LockSupport.parkNanos(random.nextInt(200_000));
      }
      if (sent + received[0] == before) {
        PollCall.awaitReadable(descriptor);
      }
    }
  }

  private static int poll(Receiver receiver, int limit) {
    return receiver.poll((segment, offset, length) -> {}, limit);
  }

  /** Waits by a selector and by poll(2), which must agree. */
  private static final class Watch implements AutoCloseable {

    private final Selector selector = Selector.open();
    private final int descriptor;

    Watch(Readiness readiness) throws IOException {
      descriptor = readiness.descriptor();
      readiness.channel().register(selector, SelectionKey.OP_READ);
    }

    /** Runs a check of the program until the descriptor is not readable after it. */
    void awaitQuiet(Runnable check) {
      eventually(
          "nothing has arrived during a check",
          () -> {
            check.run();
            return !isReadable();
          });
    }

    /** Returns whether it is readable, which another thread may change. */
    boolean isReadable() {
      try {
        return selector.selectNow(key -> {}) > 0 || PollCall.isReadable(descriptor);
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }

    void awaitReadable() {
      PollCall.awaitReadable(descriptor);
      try {
        assertThat(selector.select(key -> {}, PATIENCE.toMillis())).isEqualTo(1);
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }

    @Override
    public void close() throws IOException {
      selector.close();
    }
  }
}
