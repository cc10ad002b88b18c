// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.clearInvocations;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionState;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.RmaRight;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.rdma.context.RegistrationCache;
import dev.ferrule.rdma.fake.RecordingCallbacks;
import dev.ferrule.rdma.fake.ScriptedDevice;
import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.rdma.queue.OneSidedOperations;
import dev.ferrule.rdma.queue.Outbox;
import dev.ferrule.rdma.queue.ReceiveQueue;
import dev.ferrule.rdma.queue.SendQueue;
import dev.ferrule.rdma.queue.TestQueues;
import dev.ferrule.support.MemoryUses;
import dev.ferrule.support.RecentMemory;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.cm.CmEvent;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The senders of a connection whose peer acknowledges nothing. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RdmaSendersTest {

  private static final int UNACKED = 4;

  /** The packages of the data path. */
  private static final Set<String> PATH =
      Set.of(
          RdmaSender.class.getPackageName(),
          Outbox.class.getPackageName(),
          QueuePair.class.getPackageName());

  private static final OneSidedOperations.Target ANY_TARGET =
      new OneSidedOperations.Target() {
        @Override
        public int remoteKey() {
          return ScriptedDevice.REMOTE_KEY;
        }

        @Override
        public int region() {
          return 0;
        }

        @Override
        public boolean acquire() {
          return true;
        }
      };

  private final FakeManager manager = new FakeManager();
  private final FakeProvider provider = new FakeProvider(manager);
  private RdmaConnection connection;

  @BeforeEach
  void connect() {
    byte[] hello = FakeProvider.helloWithAccess(Hello.Kind.ACCEPT);
    manager.onConnect = () -> manager.answer(CmEvent.Type.ESTABLISHED, 0, hello);
    provider.sends = TestQueues.protocol();
    connection =
        provider.connect(
            "?wait=block&readiness=all&closeTimeout=60s&peerTimeout=0&unacked=" + UNACKED);
  }

  @AfterEach
  void close() {
    connection.close(Duration.ZERO);
    manager.close();
  }

  private static List<SendRegion> claimAll(Sender sender) {
    List<SendRegion> claimed = new ArrayList<>();
    for (int i = 0; i < UNACKED; i++) {
      claimed.add(sender.claim(10));
    }
    return claimed;
  }

  /** Starts a claim, and waits until its thread sleeps. */
  private <T> FutureTask<T> startWaiting(Callable<T> claim) {
    long before = connection.counters().wakeupsReceived();
    FutureTask<T> waiting = new FutureTask<>(claim);
    Thread.ofPlatform().daemon().start(waiting);
    while (connection.counters().wakeupsReceived() == before && !waiting.isDone()) {
      Thread.yield();
    }
    return waiting;
  }

  @Test
  void aThreadThatWaitsForRoomGetsTheRoomOfARegionThatAnotherSenderAborts() throws Exception {
    List<SendRegion> claimed = claimAll(connection.newSender());
    FutureTask<SendRegion> waiting = startWaiting(() -> connection.sender().claim(10));

    claimed.getFirst().abort();

    assertThat(waiting.get().length()).isEqualTo(10);
  }

  @Test
  void aThreadThatWaitsForRoomGetsTheRoomOfASenderThatIsClosed() throws Exception {
    Sender closed = connection.newSender();
    List<SendRegion> claimed = claimAll(closed);
    Sender further = connection.newSender();
    FutureTask<SendRegion> waiting = startWaiting(() -> further.claim(10));

    closed.close();

    assertThat(waiting.get().length()).isEqualTo(10);
    assertThatThrownBy(claimed.getFirst()::abort).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> closed.tryClaim(1)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> closed.isComplete(1)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void theReadinessShowsRoomThatAnotherSenderReleases() throws Exception {
    SelectableChannel channel = connection.readiness().channel();
    try (Selector selector = Selector.open()) {
      channel.configureBlocking(false);
      channel.register(selector, SelectionKey.OP_READ);
      assertThat(connection.receiver().tryReceive()).isNull();
      Sender further = connection.newSender();
      List<SendRegion> claimed = claimAll(connection.sender());
      assertThat(further.tryClaim(10)).isNull();
      assertThat(selector.selectNow()).isZero();

      claimed.getFirst().abort();

      assertThat(selector.selectNow()).isEqualTo(1);
      assertThat(further.tryClaim(10)).isNotNull();
      selector.selectedKeys().clear();
      assertThat(selector.selectNow()).as("no message waits for room").isZero();
      assertThat(further.tryClaim(10)).isNull();
      further.close();
      selector.selectedKeys().clear();
      connection.sender().claim(10).abort();
      assertThat(selector.selectNow()).as("a closed sender does not wait").isZero();
    }
  }

  @Test
  void onlyASenderThatHoldsAllRoomItselfCannotWait() {
    Sender further = connection.newSender();
    List<SendRegion> claimed = claimAll(further);
    assertThatThrownBy(() -> further.claim(10))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("all buffers are claimed");
    assertThat(connection.sender().tryClaim(10)).isNull();
    claimed.getFirst().abort();
    assertThat(connection.sender().tryClaim(10)).isNotNull();
  }

  @Test
  void closingTheConnectionEndsAWaitForRoomOrForAnAcknowledgmentInAFurtherSender() {
    Sender further = connection.newSender();
    Sender another = connection.newSender();
    long id = further.send(MemorySegment.ofArray(new byte[8]));
    List<FutureTask<?>> waiting = new ArrayList<>();
    waiting.add(
        startWaiting(() -> {
          further.await(id);
          return id;
        }));
    waiting.add(startWaiting(() -> claimAll(another)));

    connection.close(Duration.ZERO);

    for (FutureTask<?> each : waiting) {
      assertThatThrownBy(each::get)
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(ConnectionClosedException.class);
    }
    assertThatThrownBy(connection::newSender).isInstanceOf(ConnectionClosedException.class);
    further.close();
    assertThat(connection.counters().messagesSent()).isEqualTo(1);
  }

  @Test
  void theCountersIncludeClosedSenders() {
    connection.sender().send(MemorySegment.ofArray(new byte[1]));
    try (Sender further = connection.newSender()) {
      assertThat(further.send(MemorySegment.ofArray(new byte[20]))).isEqualTo(1);
      further.stage(MemorySegment.ofArray(new byte[50]));
      further.claim(5);
      assertThat(further.tryClaim(64)).isNull();
    }
    assertThat(connection.counters().messagesSent()).isEqualTo(3);
    assertThat(connection.counters().bytesSent()).isEqualTo(71);
    assertThat(connection.counters().backPressureStalls()).isEqualTo(1);
  }

  /** The path of a sent message in docs/architecture.md, from the program's call to the device. */
  @Test
  void aMessagePassesThroughFourTypesToTheDevice() {
    List<Class<?>> walk = new ArrayList<>();
    when(manager.device.verbs.postSend(any(), anyLong(), anyLong(), anyLong()))
        .thenAnswer(call -> {
          walk.clear();
          walk.addAll(typesOfFerrule());
          return 0;
        });
    List<Class<?>> expected =
        List.of(RdmaSender.class, Outbox.class, SendQueue.class, QueuePair.class);
    Sender sender = connection.sender();

    sender.send(MemorySegment.ofArray(new byte[8]));
    assertThat(walk).as("send").isEqualTo(expected);

    walk.clear();
    sender.claim(8).commit();
    assertThat(walk).as("claim and commit").isEqualTo(expected);

    walk.clear();
    sender.sendRegistered(connection.register(Arena.ofAuto().allocate(64)), 0, 64);
    assertThat(walk).as("of registered memory").isEqualTo(expected);
  }

  /** The path of a received message, from the completion to the handler. */
  @Test
  void aMessagePassesThroughThreeTypesFromTheDevice() {
    List<Class<?>> polling = new ArrayList<>();
    List<Class<?>> receiving = new ArrayList<>();
    List<Class<?>> handling = new ArrayList<>();
    Thread receiver = Thread.currentThread();
    manager.onPoll =
        () -> {
          if (Thread.currentThread() != receiver || !polling.isEmpty()) {
            return 0;
          }
          polling.addAll(typesOfFerrule());
          return 1;
        };
    provider.onReceived = () -> receiving.addAll(typesOfFerrule());

    int count =
        connection
            .receiver()
            .poll((buffer, offset, length) -> handling.addAll(typesOfFerrule()), 1);

    assertThat(count).isEqualTo(1);
    assertThat(polling)
        .containsExactly(RdmaReceiver.class, ReceiveQueue.class, CompletionQueue.class);
    assertThat(receiving).containsExactly(RdmaReceiver.class, ReceiveQueue.class, Channel.class);
    assertThat(handling).containsExactly(RdmaReceiver.class);
  }

  /** Returns the types in which the calls of this thread are, outermost first. */
  private static List<Class<?>> typesOfFerrule() {
    List<Class<?>> types =
        StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE)
            .walk(frames ->
                frames
                    .<Class<?>>map(StackWalker.StackFrame::getDeclaringClass)
                    .filter(type -> PATH.contains(type.getPackageName()))
                    .filter(type -> !type.getName().matches(".*(Test|Fake).*"))
                    .distinct()
                    .toList());
    return types.reversed();
  }

  /** Waiting for other connections may use up the time. */
  @Test
  void closingRegisteredMemoryRequestsAllCompletionsBeforeItWaitsForAny() {
    ScriptedDevice device = new ScriptedDevice();
    CompletionQueue completions = device.completionQueue();
    SendQueue queue = TestQueues.sendQueue(device, completions, new RecordingCallbacks(), 64);
    RegisteredMemory memory = connection.register(Arena.ofAuto().allocate(64));
    RdmaMemoryUse use = use(memory, queue, new RegistrationCache(device.domain()));
    use.stage();
    use.posted(post(queue.newOutbox()));
    assertThat(device.lastSend().isSignaled()).isFalse();

    assertThat(use.awaitPosted(System.nanoTime())).isTrue();

    assertThat(device.lastSend().isSignaled()).isTrue();
    device.sent(completions, device.lastSend().id());
    long longAgo = System.nanoTime() - TimeUnit.HOURS.toNanos(1);
    assertThat(use.awaitUnused(longAgo)).isTrue();
  }

  @Test
  void registeredMemoryIsUsedUntilTheLastRemoteAccessToItIsAcknowledged() {
    ScriptedDevice device = new ScriptedDevice();
    CompletionQueue completions = device.completionQueue();
    SendQueue queue = TestQueues.sendQueue(device, completions, new RecordingCallbacks());
    queue.accesses().onRegionRelease(region -> {});
    RegisteredMemory memory = connection.register(Arena.ofAuto().allocate(64));
    RdmaMemoryUse use = use(memory, queue, new RegistrationCache(device.domain()));
    use.accessed();
    queue.accesses().tryPost(true, use, memory.segment().address(), ANY_TARGET, 0, 8, 1);
    long longAgo = System.nanoTime() - TimeUnit.HOURS.toNanos(1);

    assertThat(use.awaitUnused(longAgo)).isFalse();

    device.sent(completions, device.lastSend().id());
    assertThat(use.awaitUnused(longAgo)).isTrue();
  }

  /**
   * Uses memory that is refused in any case: without the check, exposing valid memory would wait
   * for a peer that acknowledges nothing.
   */
  @Test
  void memoryForAtomicOperationsIsRefusedOnADeviceWithoutThem() {
    MemorySegment readOnly = Arena.ofAuto().allocate(8).asReadOnly();
    assertThatThrownBy(() -> connection.rma().expose(readOnly, RmaRight.ATOMIC))
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessageContaining("atomic_cap");
    assertThatThrownBy(() -> connection.rma().allocate(1L << 60, RmaRight.ATOMIC))
        .isInstanceOf(UnsupportedOperationException.class);
  }

  @Test
  void theSendersOfAConnectionAreLimited() {
    List<Sender> senders = new ArrayList<>();
    for (int i = 0; i < RdmaSenders.MAX_FURTHER; i++) {
      senders.add(connection.newSender());
    }
    assertThatThrownBy(connection::newSender)
        .isInstanceOf(ResourceExhaustedException.class)
        .hasMessageContaining("the limit of 63 senders beside the first");
    senders.getFirst().close();
    senders.getFirst().close();
    assertThat(connection.newSender().tryClaim(1)).isNotNull();
  }

  private static long post(Outbox outbox) {
    outbox.reserve(1, 0);
    outbox.stageGather(SendQueue.NO_LINES, 0, 0, 1, ScriptedDevice.LOCAL_KEY);
    assertThat(outbox.publish()).isTrue();
    return outbox.lastNumber();
  }

  private static RdmaMemoryUse use(RdmaConnection connection, RegisteredMemory memory) {
    return new RecentMemory<>(connection.registeredMemory()).use(memory);
  }

  private static FutureTask<Boolean> startClosing(RegisteredMemory memory) {
    FutureTask<Boolean> closing =
        new FutureTask<>(() -> {
          memory.close();
          return true;
        });
    Thread.ofPlatform().daemon().start(closing);
    return closing;
  }

  @Test
  void closingRegisteredMemoryWaitsForAMessageThatAnotherThreadIsPosting() throws Exception {
    RegisteredMemory memory = connection.register(Arena.ofAuto().allocate(64));
    RdmaMemoryUse use = use(connection, memory);
    use.stage();
    FutureTask<Boolean> closing = startClosing(memory);
    while (use.isUsable()) {
      Thread.yield();
    }
    assertThatThrownBy(use::stage).isInstanceOf(IllegalStateException.class);
    assertThat(closing.isDone()).isFalse();

    use.posted(0);

    assertThat(closing.get()).isTrue();
  }

  @Test
  void registeredMemoryStaysOpenWhileAMessageFromItIsStagedOnAnyConnection() {
    RdmaConnection hasty = provider.connect("?closeTimeout=0s&peerTimeout=0");
    RegisteredMemory memory = connection.register(Arena.ofAuto().allocate(1000));
    RdmaMemoryUse use = use(hasty, memory);
    use.stage();
    assertThatThrownBy(memory::close)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("is staged: flush it");
    assertThat(hasty.state()).isEqualTo(ConnectionState.OPEN);

    use.stage();
    hasty.close(Duration.ZERO);
    memory.close();
    assertThat(use.isUsable()).isFalse();
  }

  private RdmaMemoryUse use(RegisteredMemory memory, SendQueue queue, RegistrationCache cache) {
    MemoryUses<RdmaMemoryUse> uses =
        new MemoryUses<>(
            RdmaMemoryUse.class,
            connection.uri(),
            connection.life(),
            shared -> new RdmaMemoryUse(shared, connection, queue, cache));
    return new RecentMemory<>(uses).use(memory);
  }

  @Test
  void registeredMemoryIsInUseUntilTheLastMessageOfAnySenderIsComplete() throws Exception {
    ScriptedDevice device = new ScriptedDevice();
    CompletionQueue completions = device.completionQueue();
    SendQueue queue = TestQueues.sendQueue(device, completions, new RecordingCallbacks());
    RegisteredMemory memory = connection.register(Arena.ofAuto().allocate(64));
    RdmaMemoryUse use = use(memory, queue, new RegistrationCache(device.domain()));
    long first = post(queue.newOutbox());
    long last = post(queue.newOutbox());
    use.stage();
    use.stage();
    use.posted(last);
    use.posted(first); // as by a thread that was preempted after it posted its message
    device.sent(completions, first);
    FutureTask<Boolean> closing = startClosing(memory);
    while (device.polls.get() < 4 && !closing.isDone()) {
      Thread.yield();
    }
    assertThat(closing.isDone()).as("the first message is complete").isFalse();

    device.sent(completions, last);

    assertThat(closing.get()).isTrue();
    assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
    assertThat(device.registrations).as("of the send memory").hasValue(1);
  }

  private void assertRegistered(MemorySegment memory, int times) {
    verify(manager.device.verbs, times(times))
        .regMr(anyLong(), eq(memory.address()), eq(memory.byteSize()), anyInt());
  }

  @Test
  void memoryIsRegisteredOnceForAllConnectionsAndUntilTheLastOneCloses() {
    MemorySegment segment = Arena.ofAuto().allocate(1000);
    RegisteredMemory memory = connection.register(segment);
    List<RdmaConnection> others = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      RdmaConnection other = provider.connect("?closeTimeout=0s&peerTimeout=0");
      others.add(other);
      RdmaMemoryUse use = use(other, memory);
      assertThat(use.localKey()).isEqualTo(ScriptedDevice.LOCAL_KEY);
      assertThat(use(other, memory)).isSameAs(use);
    }
    RegisteredMemory again = others.getFirst().register(segment);
    assertRegistered(segment, 1);
    connection.close(Duration.ZERO);
    clearInvocations(manager.device.verbs);

    again.close();
    RdmaConnection last = others.removeLast();
    others.forEach(other -> other.close(Duration.ZERO));
    assertThat(use(last, memory).isUsable()).isTrue();
    assertRegistered(segment, 0);
    memory.close();
    RegisteredMemory anew = last.register(segment);

    assertRegistered(segment, 1);
    anew.close();
    last.close(Duration.ZERO);
  }

  @Test
  void memoryIsRegisteredWithAnotherDeviceAtItsFirstUseThere() {
    ScriptedDevice device = new ScriptedDevice();
    SendQueue queue =
        TestQueues.sendQueue(device, device.completionQueue(), new RecordingCallbacks());
    int before = device.registrations.get();
    RegisteredMemory memory = connection.register(Arena.ofAuto().allocate(64));
    assertThat(device.registrations).hasValue(before);
    RegistrationCache cache = new RegistrationCache(device.domain());

    RdmaMemoryUse first = use(memory, queue, cache);
    RdmaMemoryUse second = use(memory, queue, cache);

    assertThat(first).isNotSameAs(second);
    assertThat(device.registrations).hasValue(before + 1);
    memory.close();
    assertThat(device.registrations).hasValue(before);
  }

  @Test
  void aConnectionThatAcknowledgesNothingDoesNotEndTheOthersThatUseTheMemory() {
    RdmaConnection hasty = provider.connect("?closeTimeout=0s&peerTimeout=0&inline=0");
    RegisteredMemory memory = connection.register(Arena.ofAuto().allocate(1000));
    hasty.sender().sendRegistered(memory, 0, 64);
    AtomicBoolean seen = new AtomicBoolean();
    hasty.onClose(ended -> {
      memory.close(); // returns, as the connection has ended
      seen.set(true);
    });

    memory.close();

    assertThat(seen).isTrue();
    assertThat(hasty.failure()).hasMessageContaining("timed out closing registered memory");
    assertThat(connection.state()).isEqualTo(ConnectionState.OPEN);
    hasty.close(Duration.ZERO);
  }
}
