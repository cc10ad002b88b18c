// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(60)
class TransportTest {

  private static final int MESSAGES = 1_000;
  private static final int SIZES = 300;

  @TempDir Path directory;

  static List<String> names() {
    return Contenders.all().stream().map(Contender::name).toList();
  }

  static List<String> namesOfThoseWithRates() {
    return Contenders.all().stream().filter(Contender::hasRate).map(Contender::name).toList();
  }

  @ParameterizedTest
  @MethodSource("names")
  void valuesGoThereAndBack(String name) {
    Contender contender = Contenders.named(name);
    try (Listening listening = contender.listen(directory, null)) {
      CompletableFuture<Void> server = CompletableFuture.runAsync(() -> echo(listening));
      try (Transport client = contender.connect(listening.address(), null)) {
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
  @MethodSource("namesOfThoseWithRates")
  void everyByteOfManyMessagesArrivesInOrderBothWays(String name) {
    Contender contender = Contenders.named(name);
    List<byte[]> atServer = new ArrayList<>();
    List<byte[]> atClient = new ArrayList<>();
    try (Listening listening = contender.listen(directory, atServer::add)) {
      CompletableFuture<Void> server =
          CompletableFuture.runAsync(
              () -> {
                try (Transport transport = listening.accept()) {
                  takeAll(transport);
                  sendAll(transport);
                  await(transport); // so that nothing is closed before it has arrived
                }
              });
      try (Transport client = contender.connect(listening.address(), atClient::add)) {
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

  @ParameterizedTest
  @MethodSource("namesOfThoseWithRates")
  void theLongestMessageFits(String name) {
    Contender contender = Contenders.named(name);
    List<byte[]> received = new ArrayList<>();
    try (Listening listening = contender.listen(directory, received::add)) {
      CompletableFuture<Transport> accepting = CompletableFuture.supplyAsync(listening::accept);
      try (Transport client = contender.connect(listening.address(), null);
          Transport server = accepting.join()) {
        send(client, 7, Transport.LONGEST);
        await(server);
      }
    }
    assertThat(received).singleElement().isEqualTo(Payload.bytes(7, Transport.LONGEST));
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
