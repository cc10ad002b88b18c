// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionState;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.ExposedMemory;
import dev.ferrule.Listener;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.RemoteMemory;
import dev.ferrule.Rma;
import dev.ferrule.RmaRight;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.verbs.VerbsLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests all kinds of traffic of a provider over a simulated fabric. */
@Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
public abstract class SimulatedProviderTraffic {

  private static final int MESSAGES = 1_000;
  private static final int FAULTS = 40;
  private static final int LONGEST = 2_000;
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Duration LASTING = Duration.ofMillis(100);

  /** Returns a new provider. */
  protected abstract ConnectionProvider provider(VerbsLibrary library);

  /** Returns the options of both sides. */
  protected abstract ConnectionOptions options();

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void messagesOfAllLengthsArriveInOrderInBothDirections(long number) {
    onFabric(number, fabric -> {}, (client, server) -> exchange(client, server, MESSAGES));
  }

  @Test
  void messagesArriveAlthoughTheDeviceIsLate() {
    onFabric(
        4,
        fabric -> {
          for (StepKind kind : StepKind.values()) {
            fabric.delay(kind, 0.1, 20);
          }
        },
        (client, server) -> exchange(client, server, MESSAGES));
  }

  @Test
  void memoryOfThePeerIsWrittenReadAndChanged() {
    onFabric(5, fabric -> {}, SimulatedProviderTraffic::accessMemory);
  }

  @Test
  void theEndOfOneClientIsNoneOfACommonReceiver() {
    endOneOfTwo("singleReceiver=on");
    if (hasSharedReceives()) {
      endOneOfTwo("singleReceiver=on&srq=on&receives=512");
    }
  }

  private boolean hasSharedReceives() {
    try (SimulatedFabric fabric = new SimulatedFabric(0)) {
      return provider(fabric.library()).options().stream()
          .anyMatch(option -> option.name().equals("srq"));
    }
  }

  private void endOneOfTwo(String query) {
    try (SimulatedFabric fabric = new SimulatedFabric(6)) {
      ConnectionProvider provider = provider(fabric.library());
      URI address = URI.create(provider.scheme() + "://127.0.0.1:0?" + query);
      Listener listener = provider.listen(address, options());
      Receiver common = listener.receiver();
      List<Connection> clients = new ArrayList<>();
      List<Connection> servers = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        CompletableFuture<Connection> connecting =
            CompletableFuture.supplyAsync(
                () -> provider.connect(listener.uri(), options()),
                task -> Thread.ofPlatform().daemon().start(task));
        servers.add(listener.accept(PATIENCE));
        clients.add(connecting.join());
      }
      clients.get(0).sender().send(MemorySegment.ofArray(new byte[1]));
      clients.get(0).sender().close();
      common.receive(PATIENCE).close();
      assertThatThrownBy(() -> common.receive(LASTING))
          .isInstanceOf(OperationTimeoutException.class);
      assertThat(common.poll((buffer, offset, length) -> {}, 1)).isZero();
      clients.get(1).sender().send(MemorySegment.ofArray(new byte[2]));
      try (ReceiveRegion message = common.receive(PATIENCE)) {
        assertThat(message.connection()).isSameAs(servers.get(1));
      }
      servers.get(0).sender().send(MemorySegment.ofArray(new byte[3]));
      assertThat(clients.get(0).receiver().receive(PATIENCE).length()).isEqualTo(3);

      listener.close();

      assertThatThrownBy(() -> servers.get(0).receiver().receive(PATIENCE))
          .isInstanceOf(EndOfStreamException.class);
      clients.forEach(Connection::close);
      servers.forEach(Connection::close);
      assertThat(fabric.receiverNotReady()).isZero();
    }
  }

  @Test
  void noFaultBlocksAThreadOrLeavesAnObjectOrAGapBetweenMessages() {
    for (long number = 0; number < FAULTS; number++) {
      try (SimulatedFabric fabric = new SimulatedFabric(number)) {
        fabric.setRetryTime(Duration.ofMillis(50));
        new FaultyTraffic(number, fabric).run(provider(fabric.library()), options());
        fabric.repair();
        fabric.awaitReleased();
        assertThat(fabric.receiverNotReady()).isZero();
        assertThat(fabric.overflows()).isZero();
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("with the fault of number " + number, e);
      }
    }
  }

  /** The actions of both ends of a connection. */
  private interface Traffic {
    void run(Connection client, Connection server) throws Exception;
  }

  private interface Faults {
    void prepare(SimulatedFabric fabric);
  }

  private void onFabric(long number, Faults faults, Traffic traffic) {
    try (SimulatedFabric fabric = new SimulatedFabric(number)) {
      faults.prepare(fabric);
      ConnectionProvider provider = provider(fabric.library());
      URI address = URI.create(provider.scheme() + "://127.0.0.1:0");
      try (Listener listener = provider.listen(address, options())) {
        CompletableFuture<Connection> connecting =
            CompletableFuture.supplyAsync(
                () -> provider.connect(listener.uri(), options()),
                task -> Thread.ofPlatform().daemon().start(task));
        try (Connection server = listener.accept(PATIENCE);
            Connection client = connecting.join()) {
          traffic.run(client, server);
        }
      } catch (Exception e) {
        throw new AssertionError(fabric.problems().toString(), e);
      }
      assertThat(fabric.receiverNotReady()).isZero();
      assertThat(fabric.overflows()).isZero();
    }
  }

  private static void exchange(Connection client, Connection server, int messages) {
    List<CompletableFuture<Void>> work =
        List.of(
            FaultyTraffic.start(() -> send(client, messages)),
            FaultyTraffic.start(() -> receive(client, messages)),
            FaultyTraffic.start(() -> send(server, messages)),
            FaultyTraffic.start(() -> receive(server, messages)));
    work.forEach(CompletableFuture::join);
  }

  private static int length(int number) {
    return switch (number % 4) {
      case 0 -> number % 8;
      case 1 -> number % 64;
      case 2 -> number % 256;
      default -> number * 7 % LONGEST;
    };
  }

  private static void assertAligned(MemorySegment buffer, long offset) {
    assertThat((buffer.address() + offset) % Long.BYTES).isZero();
  }

  private static byte content(int number, int at) {
    return (byte) (number * 31 + at);
  }

  private static void fill(MemorySegment memory, long offset, int number, int from, int to) {
    for (int at = from; at < to; at++) {
      memory.set(ValueLayout.JAVA_BYTE, offset + at - from, content(number, at));
    }
  }

  /** Sends messages, by each form of sending in rotation. */
  private static void send(Connection connection, int messages) {
    Sender sender = connection.sender();
    MemorySegment plain = Arena.ofAuto().allocate(LONGEST, 64);
    MemorySegment memory = Arena.ofAuto().allocate(LONGEST, 64);
    try (RegisteredMemory registered = connection.register(memory)) {
      for (int number = 0; number < messages; number++) {
        int length = length(number);
        switch (number % 5) {
          case 0 -> {
            SendRegion region = sender.claim(length);
            assertAligned(region.buffer(), region.offset());
            fill(region.buffer(), region.offset(), number, 0, length);
            region.commit(length);
          }
          case 1 -> {
            fill(memory, 0, number, 0, length);
            sender.await(sender.sendRegistered(registered, 0, length));
          }
          case 2 -> {
            int header = Math.min(length, 16);
            fill(plain, 0, number, 0, header);
            fill(memory, 0, number, header, length);
            sender.await(
                sender.sendRegistered(plain.asSlice(0, header), registered, 0, length - header));
          }
          case 3 -> {
            fill(plain, 0, number, 0, length);
            sender.stage(plain, 0, length);
            sender.flush();
          }
          default -> {
            fill(plain, 0, number, 0, length);
            sender.send(plain, 0, length);
          }
        }
      }
    }
    sender.close(); // announces the end behind all messages
  }

  private static void receive(Connection connection, int messages) {
    for (int number = 0; number < messages; number++) {
      try (ReceiveRegion message = connection.receiver().receive(PATIENCE)) {
        assertThat(message.length()).as("message %d", number).isEqualTo(length(number));
        assertAligned(message.buffer(), message.offset());
        for (int at = 0; at < message.length(); at++) {
          byte actual = message.buffer().get(ValueLayout.JAVA_BYTE, message.offset() + at);
          if (actual != content(number, at)) {
            throw new AssertionError("message " + number + " differs at " + at);
          }
        }
      }
    }
    assertThatThrownBy(() -> connection.receiver().receive(PATIENCE))
        .isInstanceOf(EndOfStreamException.class);
    assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
  }

  private static void accessMemory(Connection client, Connection server) {
    int size = 1 << 16;
    Rma rma = client.rma();
    MemorySegment mine = Arena.ofAuto().allocate(size, 64);
    fill(mine, 0, 3, 0, size);
    MemorySegment theirs = Arena.ofAuto().allocate(size, 64);
    RegisteredMemory local = client.register(mine);
    try (ExposedMemory exposed =
        server.rma().expose(theirs, RmaRight.READ, RmaRight.WRITE, RmaRight.ATOMIC)) {
      RemoteMemory remote = rma.attach(exposed.handle());
      rma.await(rma.write(local, 1, remote, 8, size - 100));
      assertThat(theirs.asSlice(8, size - 100).mismatch(mine.asSlice(1, size - 100))).isEqualTo(-1);
      MemorySegment back = Arena.ofAuto().allocate(size, 64);
      RegisteredMemory target = client.register(back);
      rma.await(rma.read(target, 3, remote, 8, 5_000));
      assertThat(back.asSlice(3, 5_000).mismatch(mine.asSlice(1, 5_000))).isEqualTo(-1);
      rma.await(rma.fetchAndAdd(target, 0, remote, 0, 5));
      rma.await(rma.compareAndSwap(target, 8, remote, 0, 5, 9));
      assertThat(back.get(ValueLayout.JAVA_LONG, 0)).isZero();
      assertThat(back.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(5);
      assertThat(theirs.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(9);
      target.close();
    } finally {
      local.close();
    }
  }
}
