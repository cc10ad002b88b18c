// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class TransportTest {

  private static final int MESSAGES = 1_000;
  private static final int SIZES = 300;
  private static final int SENDER_BYTE = 6; // of a value in little endian

  @TempDir Path directory;

  static List<Arguments> uses() {
    return uses(transport -> true);
  }

  static List<Arguments> usesWithRates() {
    return uses(TransportUnderTest::hasRate);
  }

  private static List<Arguments> uses(Predicate<TransportUnderTest> which) {
    return TransportsUnderTest.all().stream()
        .filter(which)
        .flatMap(transport ->
            transport.modes().stream().map(mode -> Arguments.of(transport.name(), mode)))
        .toList();
  }

  static List<String> namesOfThoseWithSeveralSenders() {
    return TransportsUnderTest.all().stream()
        .filter(transport -> transport.modes().contains(Mode.SEVERAL_SENDERS))
        .map(TransportUnderTest::name)
        .toList();
  }

  @ParameterizedTest
  @MethodSource("uses")
  void valuesAreEchoed(String name, Mode mode) {
    TransportUnderTest underTest = TransportsUnderTest.named(name);
    try (Listening listening = underTest.listen(mode, directory, null)) {
      CompletableFuture<Void> server = CompletableFuture.runAsync(() -> echo(listening));
      try (Transport client = underTest.connect(mode, listening.address(), null)) {
        for (long value = 1; value <= MESSAGES; value++) {
          send(client, value, Transport.SHORTEST);
          await(client);
          assertThat(client.lastValue()).isEqualTo(value);
        }
        server.join();
      }
    }
  }

  private static void echo(Listening listening) {
    try (Transport transport = listening.accept()) {
      for (int i = 0; i < MESSAGES; i++) {
        await(transport);
        send(transport, transport.lastValue(), Transport.SHORTEST);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("usesWithRates")
  void everyByteOfManyMessagesArrivesInOrderInBothDirections(String name, Mode mode) {
    TransportUnderTest underTest = TransportsUnderTest.named(name);
    List<byte[]> atServer = new ArrayList<>();
    List<byte[]> atClient = new ArrayList<>();
    try (Listening listening = underTest.listen(mode, directory, atServer::add)) {
      CompletableFuture<Void> server =
          CompletableFuture.runAsync(() -> {
            try (Transport transport = listening.accept()) {
              takeAll(transport);
              sendAll(transport);
              await(transport); // so that the connection is not closed before all have arrived
            }
          });
      try (Transport client = underTest.connect(mode, listening.address(), atClient::add)) {
        sendAll(client);
        takeAll(client);
        send(client, 0, Transport.SHORTEST);
        server.join();
      }
    }
    for (List<byte[]> received : List.of(atServer.subList(0, MESSAGES), atClient)) {
      assertThat(received).hasSize(MESSAGES);
      for (int i = 0; i < MESSAGES; i++) {
        assertThat(received.get(i)).isEqualTo(Payload.bytes(i + 1L, length(i)));
      }
    }
  }

  /** Connects, and returns the messages that the server receives from an action. */
  private List<byte[]> receivedMessages(
      String name, Mode mode, BiConsumer<Transport, Transport> clientAndServer) {
    TransportUnderTest underTest = TransportsUnderTest.named(name);
    List<byte[]> received = new ArrayList<>();
    try (Listening listening = underTest.listen(mode, directory, received::add)) {
      CompletableFuture<Transport> accepting = CompletableFuture.supplyAsync(listening::accept);
      try (Transport client = underTest.connect(mode, listening.address(), null);
          Transport server = accepting.join()) {
        clientAndServer.accept(client, server);
      }
    }
    return received;
  }

  @ParameterizedTest
  @MethodSource("usesWithRates")
  void theLongestMessageFits(String name, Mode mode) {
    List<byte[]> received =
        receivedMessages(
            name,
            mode,
            (client, server) -> {
              send(client, 7, Transport.LONGEST);
              await(server);
            });
    assertThat(received).singleElement().isEqualTo(Payload.bytes(7, Transport.LONGEST));
  }

  @ParameterizedTest
  @MethodSource("usesWithRates")
  void everyByteOfBatchesArrivesInOrder(String name, Mode mode) {
    List<byte[]> received =
        receivedMessages(
            name,
            mode,
            (client, server) -> {
              CompletableFuture<Void> taking = CompletableFuture.runAsync(() -> takeAll(server));
              for (int sent = 0; sent < MESSAGES; ) {
                int count = Math.min(Transport.LARGEST_BATCH, MESSAGES - sent);
                int now = client.trySendBatch(sent + 1L, count, SIZES);
                sent += now;
                if (now == 0) {
                  Thread.yield();
                }
              }
              taking.join();
            });
    assertThat(received).hasSize(MESSAGES);
    for (int i = 0; i < MESSAGES; i++) {
      assertThat(received.get(i)).isEqualTo(Payload.bytes(i + 1L, SIZES));
    }
  }

  @ParameterizedTest
  @MethodSource("namesOfThoseWithSeveralSenders")
  void everyByteOfSeveralSendersArrivesInEachSendersOrder(String name) {
    Mode mode = Mode.SEVERAL_SENDERS;
    int senders = 4;
    List<byte[]> received =
        receivedMessages(
            name,
            mode,
            (client, server) -> {
              List<Thread> threads = new ArrayList<>();
              for (int i = 0; i < senders; i++) {
                int index = i;
                MessageSender sender = client.newSender();
                threads.add(
                    Thread.ofPlatform().daemon().start(() -> sendOwn(sender, index, senders)));
              }
              takeAll(server);
              server.sequences().check();
              for (Thread thread : threads) {
                while (thread.isAlive()) {
                  Thread.yield();
                }
              }
            });
    assertThat(received).hasSize(MESSAGES);
    int[] next = new int[senders];
    for (byte[] message : received) {
      int sender = Byte.toUnsignedInt(message[SENDER_BYTE]);
      int number = next[sender]++;
      assertThat(message)
          .isEqualTo(Payload.bytes(SenderSequences.value(sender, number), length(number)));
    }
  }

  private static void sendOwn(MessageSender sender, int index, int senders) {
    for (int number = 0; number < MESSAGES / senders; number++) {
      while (!sender.trySend(SenderSequences.value(index, number), length(number))) {
        Thread.yield();
      }
    }
  }

  private static int length(int index) {
    return Transport.SHORTEST + index % SIZES;
  }

  private static void sendAll(Transport transport) {
    for (int i = 0; i < MESSAGES; i++) {
      send(transport, i + 1L, length(i));
    }
  }

  private static void takeAll(Transport transport) {
    for (int taken = 0; taken < MESSAGES; ) {
      int now = transport.poll(MESSAGES - taken);
      taken += now;
      if (now == 0) {
        Thread.yield();
      }
    }
  }

  private static void send(Transport transport, long value, int length) {
    while (!transport.trySend(value, length)) {
      Thread.yield();
    }
  }

  private static void await(Transport transport) {
    while (transport.poll(1) == 0) {
      Thread.yield();
    }
  }
}
