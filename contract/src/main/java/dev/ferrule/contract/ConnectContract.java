// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.AddressInUseException;
import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.ConnectionRejectedException;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.Ferrule;
import dev.ferrule.FerruleException;
import dev.ferrule.InvalidAddressException;
import dev.ferrule.InvalidOptionException;
import dev.ferrule.Listener;
import dev.ferrule.MessageTooLongException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.Option;
import dev.ferrule.ProviderInfo;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.SendRegion;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Establishing connections: payloads, rejection, missing and unresponsive listeners, many clients,
 * and invalid addresses and options.
 */
public abstract class ConnectContract extends Contract {

  private static final Duration SHORT = Duration.ofMillis(300);

  /**
   * Creates the tests.
   *
   * @param provider the provider under test
   */
  protected ConnectContract(ProviderUnderTest provider) {
    super(provider);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 7, 8, 9, 27, 28})
  void payloadsArriveOnBothSides(int length) {
    Listener listener = listen();
    byte[] question = payload(length, 1);
    byte[] answer = payload(length, 2);
    Background<Connection> connecting =
        connectInBackground(listener, patientOptions().payload(question).build());

    ConnectionRequest request = listener.nextRequest(PATIENCE);
    assertThat(request.payload()).isEqualTo(question);
    Connection server = closeAtEnd(request.accept(answer));
    Connection client = connecting.result();

    assertThat(server.peerPayload()).isEqualTo(question);
    assertThat(client.peerPayload()).isEqualTo(answer);
    messagesPass(new Pair(client, server));
  }

  @Test
  void missingPayloadsAreEmpty() {
    Pair pair = connect();

    assertThat(pair.client().peerPayload()).isEmpty();
    assertThat(pair.server().peerPayload()).isEmpty();
  }

  @Test
  void payloadsAreCopies() {
    Listener listener = listen();
    byte[] question = payload(8, 1);
    ConnectionOptions options = patientOptions().payload(question).build();
    question[0]++;
    Background<Connection> connecting = connectInBackground(listener, options);

    ConnectionRequest request = listener.nextRequest(PATIENCE);
    request.payload()[1]++;
    byte[] answer = payload(8, 2);
    Connection server = closeAtEnd(request.accept(answer));
    answer[0]++;
    server.peerPayload()[2]++;

    assertThat(server.peerPayload()).isEqualTo(payload(8, 1));
    assertThat(connecting.result().peerPayload()).isEqualTo(payload(8, 2));
  }

  @Test
  void anOversizedPayloadIsRefusedAtOnce() {
    Listener listener = listen();
    byte[] tooLong = new byte[MIB];

    assertThatThrownBy(() -> Ferrule.connect(listener.uri(), options().payload(tooLong).build()))
        .isInstanceOfSatisfying(
            MessageTooLongException.class,
            failure -> {
              assertThat(failure.length()).isEqualTo(MIB);
              assertThat(failure.maxMessage()).isBetween(28, MIB - 1);
              assertThat(failure.uri()).isEqualTo(listener.uri());
            });

    Background<Connection> connecting = connectInBackground(listener, patientOptions().build());
    ConnectionRequest request = listener.nextRequest(PATIENCE);
    assertThatThrownBy(() -> request.accept(tooLong)).isInstanceOf(MessageTooLongException.class);
    assertThatThrownBy(() -> request.reject(tooLong)).isInstanceOf(MessageTooLongException.class);
    Connection server = closeAtEnd(request.accept()); // the request is still open
    messagesPass(new Pair(connecting.result(), server));
  }

  @Test
  void aRequestNamesItsClient() {
    Listener listener = listen();
    Background<Connection> connecting = connectInBackground(listener, patientOptions().build());

    ConnectionRequest request = listener.nextRequest(PATIENCE);

    assertThat(request.peer()).isNotNull();
    assertThat(request.peer().getScheme()).isEqualTo(listener.uri().getScheme());
    closeAtEnd(request.accept());
    connecting.result();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 28})
  void aRejectedClientReceivesThePayload(int length) {
    Listener listener = listen();
    byte[] reason = payload(length, 3);
    Background<Connection> connecting = connectInBackground(listener, patientOptions().build());

    listener.nextRequest(PATIENCE).reject(reason);

    Throwable failure = connecting.failure();
    assertThat(failure).isInstanceOf(ConnectionRejectedException.class);
    assertThat(((ConnectionRejectedException) failure).payload()).isEqualTo(reason);
    assertThat(((ConnectionRejectedException) failure).uri()).isNotNull();
  }

  @Test
  void aClientMayBeRejectedWithoutAReasonAndTheNextOneAccepted() {
    Listener listener = listen();
    Background<Connection> rejected = connectInBackground(listener, patientOptions().build());
    listener.nextRequest(PATIENCE).reject();

    assertThat(((ConnectionRejectedException) rejected.failure()).payload()).isEmpty();
    messagesPass(connectTo(listener, provider.options()));
  }

  @Test
  void aRequestIsAnsweredOnlyOnce() {
    Listener listener = listen();
    Background<Connection> first = connectInBackground(listener, patientOptions().build());
    ConnectionRequest accepted = listener.nextRequest(PATIENCE);
    Connection server = closeAtEnd(accepted.accept());
    Connection client = first.result();
    Background<Connection> second = connectInBackground(listener, patientOptions().build());
    ConnectionRequest rejected = listener.nextRequest(PATIENCE);
    rejected.reject();
    second.failure();

    for (ConnectionRequest request : List.of(accepted, rejected)) {
      assertThatThrownBy(request::accept).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> request.accept(new byte[1]))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(request::reject).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> request.reject(new byte[1]))
          .isInstanceOf(IllegalStateException.class);
    }
    messagesPass(new Pair(client, server));
  }

  @Test
  void requestsMayBeAnsweredInAnyOrderAndByAnyThread() {
    Listener listener = listen();
    List<Background<Connection>> clients = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      clients.add(
          connectInBackground(listener, patientOptions().payload(new byte[] {(byte) i}).build()));
    }
    ConnectionRequest[] requests = new ConnectionRequest[3];
    for (int i = 0; i < 3; i++) {
      ConnectionRequest request = listener.nextRequest(PATIENCE);
      requests[request.payload()[0]] = request;
    }

    Connection last = inBackground("server", () -> closeAtEnd(requests[2].accept())).result();
    inBackground("rejecting", () -> requests[1].reject()).result();
    Connection first = closeAtEnd(requests[0].accept());

    messagesPass(new Pair(clients.get(2).result(), last));
    messagesPass(new Pair(clients.get(0).result(), first));
    assertThat(clients.get(1).failure()).isInstanceOf(ConnectionRejectedException.class);
  }

  @Test
  void tryNextRequestDoesNotWait() {
    Listener listener = listen();
    assertThat(listener.tryNextRequest()).isNull();
    Background<Connection> connecting = connectInBackground(listener, patientOptions().build());
    List<ConnectionRequest> requests = new ArrayList<>();

    eventually(
        "the request has arrived",
        () -> {
          ConnectionRequest request = listener.tryNextRequest();
          if (request != null) {
            requests.add(request);
          }
          return request != null;
        });

    assertThat(listener.tryNextRequest()).isNull();
    Connection server = closeAtEnd(requests.get(0).accept());
    messagesPass(new Pair(connecting.result(), server));
  }

  @Test
  void tryAcceptDoesNotWait() {
    Listener listener = listen();
    assertThat(listener.tryAccept()).isNull();
    Background<Connection> connecting = connectInBackground(listener, patientOptions().build());
    List<Connection> accepted = new ArrayList<>();

    eventually(
        "the client is accepted",
        () -> {
          Connection connection = listener.tryAccept();
          if (connection != null) {
            accepted.add(closeAtEnd(connection));
          }
          return connection != null;
        });

    assertThat(listener.tryAccept()).isNull();
    messagesPass(new Pair(connecting.result(), accepted.getFirst()));
  }

  @Test
  void aRequestThatIsClosedUnansweredIsRejected() {
    Listener listener = listen();
    Background<Connection> connecting = connectInBackground(listener, patientOptions().build());
    try (ConnectionRequest request = listener.nextRequest(PATIENCE)) {
      assertThat(request.payload()).isEmpty();
    }

    assertThat(connecting.failure())
        .isInstanceOfSatisfying(
            ConnectionRejectedException.class, e -> assertThat(e.payload()).isEmpty());
    messagesPass(connectTo(listener, provider.options()));
  }

  @Test
  void closingARequestThatWasAnsweredOrGivenUpDoesNothing() {
    Listener listener = listen();
    Background<Connection> connecting = connectInBackground(listener, patientOptions().build());
    ConnectionRequest accepted = listener.nextRequest(PATIENCE);
    Connection server = closeAtEnd(accepted.accept());
    accepted.close();
    messagesPass(new Pair(connecting.result(), server));

    Background<Connection> another = connectInBackground(listener, patientOptions().build());
    ConnectionRequest rejected = listener.nextRequest(PATIENCE);
    rejected.reject(payload(3, 3));
    rejected.close();
    rejected.close();
    assertThat(another.failure())
        .isInstanceOfSatisfying(
            ConnectionRejectedException.class,
            e -> assertThat(e.payload()).isEqualTo(payload(3, 3)));

    requestOfAClientThatGaveUp(listener).close();

    Background<Connection> late = connectInBackground(listener, patientOptions().build());
    ConnectionRequest waiting = listener.nextRequest(PATIENCE);
    listener.close();
    waiting.close();
    assertThat(late.failure()).isInstanceOf(FerruleException.class);
  }

  @Test
  void aConnectionCanBeMadeWithoutABlockedThread() {
    Listener listener = listen();
    CompletableFuture<Connection> connecting =
        Ferrule.connectAsync(listener.uri(), patientOptions().build());
    assertThat(connecting).isNotDone();
    Connection server = closeAtEnd(listener.accept(PATIENCE));
    messagesPass(new Pair(closeAtEnd(connecting.join()), server));
  }

  @Test
  void anAsynchronousConnectFailsByTheExceptionOfConnect() {
    Listener listener = listen();
    listener.close();

    assertThatThrownBy(() -> Ferrule.connectAsync(listener.uri(), patientOptions().build()).get())
        .hasCauseInstanceOf(ConnectionRefusedException.class);
  }

  @Test
  void cancellingAnAsynchronousConnectEndsTheAttempt() {
    Listener listener = listen();
    CompletableFuture<Connection> connecting =
        Ferrule.connectAsync(listener.uri(), patientOptions().build());
    ConnectionRequest request = listener.nextRequest(PATIENCE);

    assertThat(connecting.cancel(true)).isTrue();

    try (Connection late = request.accept()) {
      assertEndOfStream(() -> late.receiver().receive(PATIENCE)); // it is closed at once
    } catch (FerruleException e) {
      assertThat(connecting).isCancelled(); // it gave up before it was accepted
    }
    messagesPass(connectTo(listener, provider.options()));
  }

  @Test
  void connectingWithoutAListenerIsRefusedAtOnce() {
    ConnectionOptions patient =
        options().set(StandardOptions.CONNECT_TIMEOUT, Duration.ofMinutes(10)).build();
    Listener listener = listen();
    URI address = listener.uri();
    listener.close();

    Background<Connection> connecting =
        inBackground("client", () -> closeAtEnd(Ferrule.connect(address, patient)));

    assertThat(connecting.failure())
        .isInstanceOf(ConnectionRefusedException.class)
        .hasMessageContaining(address.toString());
  }

  @Test
  void anUnansweredClientTimesOut() {
    Listener listener = listen();
    ConnectionOptions hasty = options().set(StandardOptions.CONNECT_TIMEOUT, SHORT).build();

    long start = System.nanoTime();
    assertThatThrownBy(() -> Ferrule.connect(listener.uri(), hasty))
        .isInstanceOf(OperationTimeoutException.class)
        .hasMessageContaining(listener.uri().toString());
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isBetween(SHORT.minusMillis(1), PATIENCE);
  }

  @Test
  void acceptSkipsClientsThatGaveUp() {
    Listener listener = listen();
    ConnectionOptions hasty = options().set(StandardOptions.CONNECT_TIMEOUT, SHORT).build();
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> Ferrule.connect(listener.uri(), hasty))
          .isInstanceOf(OperationTimeoutException.class);
    }

    assertThatThrownBy(() -> listener.accept(SHORT)).isInstanceOf(OperationTimeoutException.class);

    assertThatThrownBy(() -> Ferrule.connect(listener.uri(), hasty))
        .isInstanceOf(OperationTimeoutException.class);
    Pair alive = connectTo(listener, options().payload(payload(5, 5)).build());
    assertThat(alive.server().peerPayload()).isEqualTo(payload(5, 5));
    messagesPass(alive);
  }

  @Test
  void aRequestWhoseClientGaveUpCannotBeAccepted() {
    Listener listener = listen();
    ConnectionRequest request = requestOfAClientThatGaveUp(listener);

    assertThatThrownBy(request::accept)
        .isInstanceOfAny(ConnectionClosedException.class, OperationTimeoutException.class);

    messagesPass(connectTo(listener, provider.options()));
  }

  /**
   * Returns the request of a client that gave up after the request was taken. A client that gives
   * up earlier is not seen; then the next one waits longer.
   */
  private ConnectionRequest requestOfAClientThatGaveUp(Listener listener) {
    for (Duration timeout = SHORT; ; timeout = timeout.multipliedBy(2)) {
      Background<Connection> connecting =
          connectInBackground(
              listener, options().set(StandardOptions.CONNECT_TIMEOUT, timeout).build());
      ConnectionRequest request = null;
      while (request == null && !connecting.isDone()) {
        request = listener.tryNextRequest();
        idle();
      }
      assertThat(connecting.failure()).isInstanceOf(OperationTimeoutException.class);
      if (request != null) {
        return request;
      }
    }
  }

  @Test
  void waitingClientsAreRejectedWhenTheListenerIsClosed() {
    ConnectionOptions patient =
        options().set(StandardOptions.CONNECT_TIMEOUT, Duration.ofMinutes(10)).build();
    Listener listener = listen();
    Background<Connection> seen = connectInBackground(listener, patient);
    ConnectionRequest request = listener.nextRequest(PATIENCE);
    Background<Connection> unseen = connectInBackground(listener, patient);
    unseen.awaitInside("connect");

    listener.close();

    assertThat(seen.failure())
        .isInstanceOfAny(ConnectionRejectedException.class, ConnectionRefusedException.class);
    assertThat(unseen.failure())
        .isInstanceOfAny(ConnectionRejectedException.class, ConnectionRefusedException.class);
    assertThatThrownBy(request::accept).isInstanceOf(ConnectionClosedException.class);
  }

  @Test
  void severalListenersKeepTheirClientsApart() {
    List<Listener> listeners = List.of(listen(), listen(), listen());
    assertThat(listeners).extracting(Listener::uri).doesNotHaveDuplicates();

    for (int i = listeners.size() - 1; i >= 0; i--) {
      Pair pair = connectTo(listeners.get(i), options().payload(payload(4, i)).build());
      assertThat(pair.server().peerPayload()).isEqualTo(payload(4, i));
      messagesPass(pair);
    }
  }

  @Test
  void manyClientsMayConnectConcurrently() {
    int clients = 32;
    ConnectionOptions options =
        patientOptions().set(StandardOptions.WAIT, WaitStrategy.BLOCK).build();
    Listener listener = listen(options);
    List<Background<Integer>> replies = new ArrayList<>();
    for (int i = 0; i < clients; i++) {
      int number = i;
      replies.add(
          inBackground(
              "client-" + i,
              () -> {
                Connection client = closeAtEnd(Ferrule.connect(listener.uri(), options));
                client.sender().send(MemorySegment.ofArray(new int[] {number}));
                return client
                    .receiver()
                    .receive(PATIENCE)
                    .segment()
                    .get(ValueLayout.JAVA_INT_UNALIGNED, 0);
              }));
    }

    List<Connection> servers = new ArrayList<>();
    for (int i = 0; i < clients; i++) {
      servers.add(closeAtEnd(listener.accept(PATIENCE)));
    }
    for (Connection server : servers) {
      try (ReceiveRegion message = server.receiver().receive(PATIENCE)) {
        int number = message.segment().get(ValueLayout.JAVA_INT_UNALIGNED, 0);
        server.sender().send(MemorySegment.ofArray(new int[] {number + 1_000}));
      }
    }

    for (int i = 0; i < clients; i++) {
      assertThat(replies.get(i).result()).isEqualTo(i + 1_000);
    }
  }

  @Test
  void aProcessMayBeItsOwnPeerManyTimesOver() {
    Listener listener = listen();
    List<Pair> pairs = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      pairs.add(connectTo(listener, provider.options()));
    }

    assertThat(pairs).extracting(pair -> pair.server().uri()).doesNotHaveDuplicates();
    assertThat(pairs).extracting(pair -> pair.client().uri()).doesNotHaveDuplicates();
    pairs.forEach(ConnectContract::messagesPass);
  }

  @Test
  void aListenersUriIsCompleteAndWithoutOptions() {
    URI address = provider.listenAddress();
    Listener listener =
        closeAtEnd(Ferrule.listen(URI.create(address + "?wait=block"), provider.options()));

    assertThat(listener.uri().getScheme()).isEqualTo(address.getScheme());
    assertThat(listener.uri().getQuery()).isNull();
    assertThat(listener.uri().getFragment()).isNull();
    messagesPass(connectTo(listener, provider.options()));
  }

  @Test
  void aConnectionsUriIsItsListenersUriWithTheConnectionsNumber() {
    Listener listener = listen();
    Pair pair = connectTo(listener, provider.options());

    for (Connection end : List.of(pair.client(), pair.server())) {
      assertThat(end.uri().toString()).startsWith(listener.uri() + "#");
      assertThat(end.uri().getFragment()).isNotEmpty();
    }
  }

  @Test
  void eachObjectDescribesItselfInLogs() {
    Listener listener = listen();
    Connection client = connectTo(listener, provider.options()).client();
    String uri = client.uri().toString();

    assertThat(listener.toString()).contains(listener.uri().toString());
    assertThat(client.toString()).contains(uri, "OPEN");
    assertThat(client.sender().toString()).isEqualTo("sender of " + uri);
    assertThat(client.receiver().toString()).isEqualTo("receiver of " + uri);
    SendRegion region = client.sender().claim(5);
    assertThat(region.toString()).isEqualTo("region of 5 bytes");
    region.abort();
    assertThat(region.toString()).contains("not claimed");
  }

  @Test
  void anAddressHasOnlyOneListenerAtATime() {
    Listener listener = listen();
    URI address = listener.uri();

    assertThatThrownBy(() -> Ferrule.listen(address, provider.options()))
        .isInstanceOf(AddressInUseException.class)
        .hasMessageContaining(address.toString());

    messagesPass(connectTo(listener, provider.options())); // the failed attempt has no effect
  }

  @Test
  void anAddressCanBeListenedOnAgainWhenItsListenerAndConnectionsAreClosed() {
    Listener listener = listen();
    URI address = listener.uri();

    for (int i = 0; i < 5; i++) {
      Pair pair = connectTo(listener, provider.options());
      messagesPass(pair);
      pair.client().close();
      pair.server().close();
      listener.close();
      listener = closeAtEnd(Ferrule.listen(address, provider.options()));
      assertThat(listener.uri()).isEqualTo(address);
    }
  }

  @Test
  void anUnknownOptionIsAnErrorThatListsTheKnownOnes() {
    URI address = provider.listenAddress();
    List<Option<?>> known = provider(address).options();
    ConnectionOptions unknown = options().set("colour", "green").build();

    for (Runnable attempt :
        List.<Runnable>of(
            () -> Ferrule.listen(URI.create(address + "?colour=green"), provider.options()),
            () -> Ferrule.connect(URI.create(address + "?colour=green"), provider.options()),
            () -> Ferrule.listen(address, unknown),
            () -> Ferrule.connect(address, unknown))) {
      assertThatThrownBy(attempt::run)
          .isInstanceOf(InvalidOptionException.class)
          .hasMessageContaining("colour")
          .hasMessageContainingAll(known.stream().map(Option::name).toArray(String[]::new));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "wait=sideways", "maxMessage=0", "maxMessage=-1", "maxMessage=many", "maxMessage=2GiB",
            "connectTimeout=0",
        "connectTimeout=5", "closeTimeout=-1s", "peerTimeout=soon", "backlog=0",
            "wait=spin&wait=block", "=4"
      })
  void anOptionWithABadValueIsAnErrorThatNamesIt(String query) {
    URI address = URI.create(provider.listenAddress() + "?" + query);
    String name = query.substring(0, query.indexOf('='));

    assertThatThrownBy(() -> Ferrule.listen(address, provider.options()))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageContaining(name);
    assertThatThrownBy(() -> Ferrule.connect(address, provider.options()))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageContaining(name);
  }

  @Test
  void optionsOfTheAddressOverrideThoseOfTheCall() {
    Listener listener =
        closeAtEnd(
            Ferrule.listen(
                URI.create(provider.listenAddress() + "?maxMessage=321"),
                options().set(StandardOptions.MAX_MESSAGE, 500L).build()));
    Background<Connection> connecting =
        inBackground(
            "client",
            () ->
                closeAtEnd(
                    Ferrule.connect(
                        URI.create(listener.uri() + "?maxMessage=123"),
                        patientOptions().set(StandardOptions.MAX_MESSAGE, 500L).build())));

    Connection server = closeAtEnd(listener.accept(PATIENCE));

    assertThat(connecting.result().sender().maxMessage()).isEqualTo(321);
    assertThat(server.sender().maxMessage()).isEqualTo(123);
  }

  /** A provider may have another default for a standard option. */
  @Test
  void everyStandardOptionIsKnown() {
    assertThat(provider(provider.listenAddress()).options().stream().map(Option::name))
        .doesNotHaveDuplicates()
        .containsAll(StandardOptions.all().stream().map(Option::name).toList());
  }

  @Test
  void aMalformedAddressIsRefused() {
    URI nonsense = URI.create(provider.listenAddress().getScheme() + ":nonsense");

    assertThatThrownBy(() -> Ferrule.listen(nonsense, provider.options()))
        .isInstanceOf(InvalidAddressException.class);
    assertThatThrownBy(() -> Ferrule.connect(nonsense, provider.options()))
        .isInstanceOf(InvalidAddressException.class);
  }

  @Test
  void theProviderDescribesItself() {
    ProviderInfo described = provider(provider.listenAddress());

    assertThat(described.availability().available()).isTrue();
    assertThat(described.scheme()).isLowerCase();
    assertThat(described.description()).isNotBlank().doesNotContain("\n");
    assertThat(URI.create(described.exampleAddress()).getScheme()).isEqualTo(described.scheme());
    assertThat(described.options()).extracting(Option::name).doesNotHaveDuplicates();
  }

  private static ProviderInfo provider(URI address) {
    return Ferrule.providers().stream()
        .filter(candidate -> candidate.scheme().equals(address.getScheme()))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no provider for " + address));
  }

  private static void messagesPass(Pair pair) {
    for (Pair way : List.of(pair, pair.reversed())) {
      way.client().sender().send(MemorySegment.ofArray("passes".getBytes(US_ASCII)));
      try (ReceiveRegion message = way.server().receiver().receive(PATIENCE)) {
        assertThat(message.segment().toArray(ValueLayout.JAVA_BYTE))
            .asString(US_ASCII)
            .isEqualTo("passes");
      }
    }
  }

  private static byte[] payload(int length, int seed) {
    byte[] payload = new byte[length];
    for (int i = 0; i < length; i++) {
      payload[i] = (byte) (seed * 17 + i * 7 + 1);
    }
    return payload;
  }
}
