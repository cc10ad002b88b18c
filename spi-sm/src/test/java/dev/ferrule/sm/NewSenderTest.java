// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.MessageHandler;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ProtocolException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.sm.ring.RingLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several senders of a connection: what their lanes add to the contract. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NewSenderTest {

  private static final Duration PATIENCE = Duration.ofSeconds(90);

  private final SmUnderTest addresses = new SmUnderTest();
  private final List<AutoCloseable> opened = new ArrayList<>();

  private record Pair(Connection client, Connection server) {}

  @AfterEach
  void closeAll() throws Exception {
    for (AutoCloseable each : opened) {
      each.close();
    }
    addresses.close();
  }

  private static ConnectionOptions options(String... more) {
    ConnectionOptions.Builder builder =
        ConnectionOptions.builder().set("ring", "4KiB").set("maxMessage", "16KiB");
    for (int i = 0; i < more.length; i += 2) {
      builder.set(more[i], more[i + 1]);
    }
    return builder.build();
  }

  private Pair connect(ConnectionOptions client, ConnectionOptions server) {
    try (Listener listener = Ferrule.listen(addresses.listenAddress(), server)) {
      return connect(listener, client);
    }
  }

  private Pair connect(Listener listener, ConnectionOptions options) {
    CompletableFuture<Connection> connecting =
        CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri(), options));
    Connection server = listener.accept();
    opened.add(server);
    opened.add(connecting.join());
    return new Pair(connecting.join(), server);
  }

  private static void send(Sender sender, int value) {
    sender.send(MemorySegment.ofArray(new int[] {value}));
  }

  private static int value(ReceiveRegion message) {
    return message.segment().get(ValueLayout.JAVA_INT_UNALIGNED, 0);
  }

  private static int receive(Receiver receiver) {
    try (ReceiveRegion message = receiver.receive(PATIENCE)) {
      return value(message);
    }
  }

  @Test
  void thePeersOptionLimitsTheSenders() {
    Pair pair = connect(options("lanes", "0"), options("lanes", "2"));
    Sender one = pair.client().newSender();
    Sender other = pair.client().newSender();
    assertThatThrownBy(pair.client()::newSender)
        .isInstanceOf(ResourceExhaustedException.class)
        .hasMessageContaining("2 senders beside the first")
        .hasMessageContaining("lanes");
    assertThatThrownBy(pair.server()::newSender)
        .isInstanceOf(ResourceExhaustedException.class)
        .hasMessageContaining("0 senders beside the first");
    one.close();
    Sender third = pair.client().newSender();
    send(third, 3);
    send(other, 2);
    assertThat(List.of(receive(pair.server().receiver()), receive(pair.server().receiver())))
        .containsExactlyInAnyOrder(2, 3);
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 1_000, 10_000})
  void aSenderWithoutRoomDelaysNoOther(int length) {
    Pair pair = connect(options(), options());
    Sender full = pair.client().newSender();
    SendRegion region = full.tryClaim(length);
    int sent = 0;
    while (region != null) {
      region.commit();
      sent++;
      region = full.tryClaim(length);
    }
    assertThatThrownBy(() -> full.claim(length, Duration.ofMillis(10)))
        .isInstanceOf(OperationTimeoutException.class);
    try (Sender other = pair.client().newSender()) {
      assertThat(other.tryClaim(length)).isNotNull();
    }
    SendRegion first = pair.client().sender().tryClaim(length);
    assertThat(first).isNotNull();
    first.commit();
    for (int i = 0; i < sent + 1; i++) {
      pair.server().receiver().receive(PATIENCE).close();
    }
    assertThat(full.tryClaim(length)).isNotNull();
  }

  /** A message in the ring of each sender, and one in its lines, freed in another order. */
  @Test
  void messagesOfSeveralSendersAreHeldInPlaceAndFreedInAnyOrder() {
    Pair pair = connect(options(), options());
    List<Sender> senders = new ArrayList<>(List.of(pair.client().sender()));
    while (senders.size() < 4) {
      senders.add(pair.client().newSender());
    }
    for (int round = 0; round < 200; round++) {
      List<ReceiveRegion> held = new ArrayList<>();
      for (Sender sender : senders) {
        byte[] message = new byte[400];
        message[0] = (byte) round;
        sender.send(MemorySegment.ofArray(message));
        byte[] longer = new byte[4_000];
        longer[0] = (byte) round;
        sender.send(MemorySegment.ofArray(longer));
        held.add(pair.server().receiver().receive(PATIENCE));
        held.add(pair.server().receiver().receive(PATIENCE));
      }
      for (int i = 0; i < held.size(); i++) {
        ReceiveRegion message = held.get((i * 3 + round) % held.size());
        assertThat(message.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) round);
        message.close();
      }
    }
  }

  /** A sender that always has messages does not keep those of others from being received. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theReceiverTakesTurns(boolean polls) {
    ConnectionOptions large = options("ring", "64KiB");
    Pair pair = connect(large, large);
    Sender busy = pair.client().newSender();
    for (int i = 0; i < 2_000; i++) {
      send(busy, 1);
    }
    send(pair.client().sender(), 2);
    int[] before = {0};
    boolean[] found = {false};
    MessageHandler handler =
        (buffer, offset, length) -> {
          found[0] |= buffer.get(ValueLayout.JAVA_INT_UNALIGNED, offset) == 2;
          before[0] += found[0] ? 0 : 1;
        };
    while (!found[0]) {
      if (polls) {
        pair.server().receiver().poll(handler, 1_000);
      } else {
        try (ReceiveRegion message = pair.server().receiver().receive(PATIENCE)) {
          handler.onMessage(message.buffer(), message.offset(), message.length());
        }
      }
    }
    assertThat(before[0]).as("messages before it").isLessThan(100);
  }

  @Test
  void aListenersReceiverTakesTheMessagesOfAllSenders() {
    ConnectionOptions single = options("singleReceiver", "on");
    try (Listener listener = Ferrule.listen(addresses.listenAddress(), single)) {
      List<Sender> senders = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        Pair pair = connect(listener, options());
        senders.add(pair.client().sender());
        senders.add(pair.client().newSender());
      }
      for (int round = 0; round < 100; round++) {
        List<Integer> received = new ArrayList<>();
        for (int i = 0; i < senders.size(); i++) {
          send(senders.get(i), i);
        }
        while (received.size() < senders.size()) {
          received.add(receive(listener.receiver()));
        }
        assertThat(received).containsExactlyInAnyOrder(0, 1, 2, 3, 4, 5);
      }
    }
  }

  @Test
  void theLastMessagesOfAllSendersArriveBeforeTheEnd() {
    for (int round = 0; round < 100; round++) {
      Pair pair = connect(options(), options());
      send(pair.client().newSender(), 1);
      send(pair.client().sender(), 2);
      send(pair.client().newSender(), 3);
      pair.client().close();
      List<Integer> received = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        received.add(receive(pair.server().receiver()));
      }
      assertThat(received).containsExactlyInAnyOrder(1, 2, 3);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1L << 2, 1L << 63, -1L})
  void aLaneThatDoesNotExistEndsTheConnection(long lanes) {
    Pair pair = connect(options(), options("lanes", "2"));
    MemorySegment ring = ConnectionMemory.ofReceiver(pair.server()).ring();
    ring.set(ValueLayout.JAVA_LONG, RingLayout.SENDER_LANES, lanes);
    assertThatThrownBy(() -> pair.server().receiver().receive(PATIENCE))
        .isInstanceOf(ProtocolException.class)
        .hasMessageContaining("lanes 0x" + Long.toHexString(lanes));
  }

  @Test
  void aLaneThatDisappearsEndsTheConnection() {
    Pair pair = connect(options(), options());
    send(pair.client().newSender(), 1);
    assertThat(receive(pair.server().receiver())).isEqualTo(1);
    MemorySegment ring = ConnectionMemory.ofReceiver(pair.server()).ring();
    ring.set(ValueLayout.JAVA_LONG, RingLayout.SENDER_LANES, 0L);
    assertThatThrownBy(() -> pair.server().receiver().receive(PATIENCE))
        .isInstanceOf(ProtocolException.class)
        .hasMessageContaining("lanes 0x0 are invalid: they were 0x1");
  }

  @Test
  void severalSendersAllocateNothing() throws Exception {
    Pair pair = connect(options(), options());
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    int messages = 50_000;
    AtomicBoolean over = new AtomicBoolean();
    List<CompletableFuture<Long>> sending = new ArrayList<>();
    long deadline = System.nanoTime() + PATIENCE.toNanos(); // C2 may be late on a busy machine
    for (int i = 0; i < 3; i++) {
      Sender sender = pair.client().newSender();
      sending.add(
          CompletableFuture.supplyAsync(
              () -> {
                long least = Long.MAX_VALUE;
                while (least >= 1_024 && System.nanoTime() - deadline < 0) {
                  long before = threads.getCurrentThreadAllocatedBytes();
                  for (int number = 0; number < messages; number++) {
                    SendRegion region = sender.claim(40);
                    region.buffer().set(ValueLayout.JAVA_LONG_UNALIGNED, region.offset(), number);
                    region.commit();
                  }
                  least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
                }
                return least;
              },
              task -> new Thread(task, "sender").start()));
    }
    CompletableFuture<Void> receiving =
        CompletableFuture.runAsync(
            () -> {
              while (!over.get()) {
                pair.server().receiver().poll((buffer, offset, length) -> {}, 1_000);
              }
            },
            task -> new Thread(task, "receiver").start());
    for (CompletableFuture<Long> each : sending) {
      assertThat(each.get()).as("bytes in %d messages", messages).isLessThan(1_024);
    }
    over.set(true);
    receiving.get();
  }
}
