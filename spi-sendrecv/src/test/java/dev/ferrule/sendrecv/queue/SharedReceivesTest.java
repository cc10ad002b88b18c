// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.posix.Errno;
import dev.ferrule.rdma.fake.RecordingCallbacks;
import dev.ferrule.rdma.fake.ScriptedDevice;
import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.rdma.queue.MessageQueue;
import dev.ferrule.rdma.queue.ReceiveQueue;
import dev.ferrule.rdma.queue.SendMemory;
import dev.ferrule.sendrecv.wire.Immediate;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.VerbsException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Receive buffers shared by several connections. */
class SharedReceivesTest {

  private static final int COUNT = 256;
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final ScriptedDevice device = new ScriptedDevice();
  private final CompletionQueue completions = device.completionQueue();
  private final CompletionQueue sendCompletions = device.completionQueue();
  private final SendMemory sendMemory = device.sendMemory(4096);
  private final RecordingCallbacks link = new RecordingCallbacks();
  private final List<SharedReceives> opened = new ArrayList<>();
  private final AtomicInteger lastNumber = new AtomicInteger(100);
  private SharedReceives shared = open(COUNT);
  private final ReceiveQueue queue =
      new ReceiveQueue(completions, buffer -> shared.repostUnowned(buffer), CompletionQueue.BATCH);

  private SharedReceives open(int count) {
    SharedReceives made =
        new SharedReceives(device.sharedReceiveQueue(), Fakes.buffers(device, count), true);
    opened.add(made);
    return made;
  }

  /** Uses fewer buffers. */
  private void use(int count) {
    shared.close();
    while (!device.receives().isEmpty()) {
      device.takeReceive();
    }
    shared = open(count);
  }

  @AfterEach
  void endThreads() {
    opened.forEach(SharedReceives::close);
  }

  /** A connection that uses a share. */
  private final class Client {

    private final int number = lastNumber.incrementAndGet();
    private final SharedReceives.Share share;
    private final Channel channel;
    private volatile long granted;
    private long sent;

    Client() {
      this(Objects.requireNonNull(shared.admit()));
    }

    Client(SharedReceives.Share share) {
      this.share = share;
      channel =
          new SendRecvChannel(
              new Channel.Parts(
                  device.queuePair(number), sendCompletions, sendMemory, 16, -1, link),
              new SendRecvChannel.Terms(false, true, share.first(), 1000),
              shared.buffers(),
              share,
              shared.buffers().view());
      queue.add(channel);
      granted = share.first();
      device.onSend = this::onSend;
    }

    private void onSend(ScriptedDevice.Send send) {
      granted += Immediate.newlyGranted(send.immediate(), granted);
      device.sent(sendCompletions, send.id());
    }

    /** Returns how many messages its peer may send. */
    int credit() {
      return (int) (granted - sent);
    }

    /** Waits until its peer may use the largest share. Ticks grant less than half of it. */
    void awaitLargestShare() {
      await(() -> {
        channel.tick();
        return credit() == shared.maxShare();
      });
    }

    /** Makes the peer, which has sent nothing else, send messages to the connection. */
    void receive(int count) {
      for (int i = 0; i < count; i++) {
        device.received(
            completions,
            number,
            device.takeReceive(),
            10,
            Immediate.of(Immediate.MESSAGE, 1000, channel.reports())); // confirms all reports
        sent++;
      }
      queue.drain();
    }

    int take() {
      assertThat(channel.messages().hasNext()).isTrue();
      return MessageQueue.number(channel.messages().take());
    }

    /** Makes the program receive and free messages. */
    void freeNext(int count) {
      for (int i = 0; i < count; i++) {
        channel.free(take());
      }
    }

    /** Receives and frees one message; returns when its buffer is reposted. */
    void exchange() {
      int posted = device.receives().size();
      receive(1);
      freeNext(1);
      await(() -> device.receives().size() == posted);
    }

    void close() {
      queue.remove(channel);
      channel.closeReceives();
    }
  }

  private static void await(BooleanSupplier condition) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("a long time").isLessThan(deadline);
      Thread.yield();
    }
  }

  private void awaitAllPosted(int count) {
    await(() -> device.receives().size() >= count);
    assertThat(device.receives())
        .containsExactlyInAnyOrderElementsOf(IntStream.range(0, count).boxed().toList());
  }

  @Test
  void allBuffersArePostedAtFirst() {
    awaitAllPosted(COUNT);
  }

  @Test
  void buffersThatCannotBePostedAtFirstAreAnError() {
    device.receiveErrno = Errno.ENOMEM;
    assertThatThrownBy(() -> open(8))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("ibv_post_srq_recv");
  }

  @Test
  void theSharesNeverExceedTheBuffers() {
    for (int count : new int[] {1, 4, 5, 9, 64, 100, COUNT, 5000}) {
      use(count);
      int given = 0;
      SharedReceives.Share share = shared.admit();
      while (share != null) {
        assertThat(share.first()).isPositive();
        assertThat(share.capacity()).isEqualTo(share.first());
        given += share.first() + SendRecvChannel.CONTROL_RECEIVES;
        share = shared.admit();
      }
      assertThat(given).isLessThanOrEqualTo(count).isGreaterThan(count - 5);
    }
  }

  /** The figures of docs/rdma.md. */
  @ParameterizedTest
  @CsvSource({"64, 8, 2", "256, 23, 17", "1024, 49, 42", "4096, 134, 128"})
  void theNumberOfReceivesLimitsThatOfConnections(int receives, int connections, int withEight) {
    use(receives);
    List<Integer> firsts =
        Stream.generate(shared::admit)
            .takeWhile(Objects::nonNull)
            .map(SharedReceives.Share::first)
            .toList();
    assertThat(firsts).hasSize(connections);
    assertThat(firsts.stream().filter(first -> first >= 8)).hasSize(withEight);
  }

  @Test
  void anUnusedShareIsReleasedOnce() {
    use(9);
    SharedReceives.Share share = Objects.requireNonNull(shared.admit());
    assertThat(shared.admit()).isNull();
    share.leave();
    share.leave();
    assertThat(shared.admit()).isNotNull();
    assertThat(shared.admit()).isNull();
  }

  @Test
  void aShareInUseIsNotReleasedByLeaving() {
    use(9);
    Client client = new Client();
    client.share.leave();
    assertThat(shared.admit()).isNull();
  }

  @Test
  void freedBuffersAreReposted() {
    Client client = new Client();
    int first = client.share.first();
    client.receive(first);
    assertThat(device.receives()).hasSize(COUNT - first);
    client.freeNext(first);
    awaitAllPosted(COUNT);
  }

  @Test
  void aShareGrowsWhileBuffersAreAbundantAndItsPeerIsGrantedMore() {
    Client client = new Client();
    int sent = 0;
    while (client.share.capacity() < shared.maxShare()) {
      client.exchange();
      sent++;
      int expected = Math.min(client.share.first() + sent, shared.maxShare());
      await(() -> client.share.capacity() == expected);
    }
    client.awaitLargestShare();
    int all = client.credit();
    client.receive(all);
    assertThat(link.told).isEmpty();
    client.freeNext(all);
    awaitAllPosted(COUNT);
    assertThat(client.share.capacity()).isEqualTo(shared.maxShare());
  }

  @Test
  void aConnectionTracksItsLargestShareAndNotAllBuffers() {
    use(4096);
    SharedReceives.Share share = Objects.requireNonNull(shared.admit());
    assertThat(share.mostTaken()).isEqualTo(shared.maxShare()).isLessThan(4096);

    use(16); // fewer buffers than the largest share
    assertThat(Objects.requireNonNull(shared.admit()).mostTaken()).isEqualTo(16);
  }

  @Test
  void withoutCreditsAConnectionMayUseAllBuffers() {
    SharedReceives uncredited =
        new SharedReceives(device.sharedReceiveQueue(), Fakes.buffers(device, COUNT), false);
    opened.add(uncredited);
    assertThat(Objects.requireNonNull(uncredited.admit()).mostTaken()).isEqualTo(COUNT);
  }

  @Test
  void aPeerThatSendsBeyondTheLargestShareViolatesTheProtocolAndUsesNoBuffers() {
    Client client = new Client();
    while (client.share.capacity() < shared.maxShare()) {
      int expected = client.share.capacity() + 1;
      client.exchange();
      await(() -> client.share.capacity() == expected);
    }
    client.awaitLargestShare();
    client.receive(COUNT); // the program reads none of them

    assertThat(link.told)
        .isNotEmpty()
        .allSatisfy(event -> assertThat(event).contains("more messages than it had credit"));
    client.close();
    awaitAllPosted(COUNT);
    awaitAdmission();
  }

  @Test
  void aShareShrinksToItsFirstSizeWhenBuffersGetScarce() {
    Client client = new Client();
    int grown = 4 * client.share.first();
    while (client.share.capacity() < grown) {
      int expected = client.share.capacity() + 1;
      client.exchange();
      await(() -> client.share.capacity() == expected);
    }
    List<SharedReceives.Share> others = new ArrayList<>();
    for (SharedReceives.Share other = shared.admit(); other != null; other = shared.admit()) {
      others.add(other);
    }
    int expected = grown;
    while (expected > client.share.first()) {
      client.exchange();
      expected--;
      int now = expected;
      await(() -> client.share.capacity() == now);
      for (SharedReceives.Share other = shared.admit(); other != null; other = shared.admit()) {
        others.add(other);
      }
    }
    client.exchange();
    awaitAllPosted(COUNT);
    assertThat(client.share.capacity()).isEqualTo(client.share.first());
    int given =
        others.stream().mapToInt(other -> other.first() + SendRecvChannel.CONTROL_RECEIVES).sum()
            + client.share.capacity()
            + SendRecvChannel.CONTROL_RECEIVES;
    assertThat(given).isLessThanOrEqualTo(COUNT);
    assertThat(link.told).isEmpty();
  }

  @Test
  void everyBufferOfAClosedConnectionIsReturned() {
    Client client = new Client();
    client.receive(5);
    int freed = client.take();
    int held = client.take(); // three others stay unread
    int failed = device.takeReceive();
    int number = client.number;
    device.failed(completions, number, failed, CompletionStatus.FLUSHED, 0);
    client.channel.free(freed);
    client.close();
    device.received(completions, number, device.takeReceive(), 10, 0); // a stray
    queue.drain();
    awaitAllPosted(COUNT);
    client.channel.free(held); // too late: the connection no longer owns the buffer
    shared.repostUnowned(device.takeReceive());
    awaitAllPosted(COUNT);
  }

  private SharedReceives.Share awaitAdmission() {
    SharedReceives.Share[] admitted = new SharedReceives.Share[1];
    await(() -> {
      admitted[0] = shared.admit();
      return admitted[0] != null;
    });
    return admitted[0];
  }

  @Test
  void aShareIsNotReleasedBeforeItsLastBufferIsReposted() {
    use(9);
    for (int round = 0; round < 200; round++) {
      SharedReceives.Share share = awaitAdmission();
      assertThat(device.receives()).as("round " + round).hasSize(9);
      Client client = new Client(share);
      client.receive(1);
      if (round % 2 == 0) {
        client.freeNext(1);
      }
      client.close();
    }
  }

  @Test
  void aShareIsNotReleasedBeforeTheBuffersOfUnreadMessagesAreReposted() throws Exception {
    use(10);
    Client other = new Client();
    Client client = new Client();
    assertThat(shared.admit()).isNull();
    other.receive(1);
    client.receive(1);
    int othersBuffer = other.take();
    CountDownLatch inPost = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(1);
    BlockingQueue<Boolean> early = new ArrayBlockingQueue<>(1);
    device.onReceive =
        (number, buffer) -> {
          if (buffer == othersBuffer) {
            inPost.countDown();
            awaitLatch(closed);
          } else {
            early.add(shared.admit() != null);
          }
        };

    other.channel.free(othersBuffer);
    awaitLatch(inPost); // the thread has searched for unread messages
    client.close();
    closed.countDown();

    assertThat(early.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isFalse();
    awaitAdmission();
  }

  private static void awaitLatch(CountDownLatch latch) {
    try {
      assertThat(latch.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void buffersFreedDuringTheCloseAreReturnedOnceAndBeforeTheShare() throws Exception {
    use(9);
    CyclicBarrier start = new CyclicBarrier(2);
    ExecutorService receiver = Executors.newSingleThreadExecutor();
    try {
      for (int round = 0; round < 1000; round++) {
        SharedReceives.Share share = awaitAdmission();
        assertThat(device.receives()).as("round " + round).hasSize(9).doesNotHaveDuplicates();
        Client client = new Client(share);
        client.receive(1);
        int buffer = client.take();
        queue.remove(client.channel);
        Future<?> freed =
            receiver.submit(() -> {
              start.await();
              client.channel.free(buffer);
              return null;
            });
        start.await();
        client.channel.closeReceives();
        freed.get();
      }
    } finally {
      receiver.shutdown();
    }
  }

  @Test
  void aBufferFreedTwiceOrTooLateIsRepostedOnce() {
    Client client = new Client();
    Client other = new Client();
    client.receive(1);
    int buffer = client.take();
    client.channel.free(buffer);
    client.channel.free(buffer);
    awaitAllPosted(COUNT);

    while (device.receives().get(0) != buffer) {
      other.exchange();
    }
    other.receive(1);
    assertThat(MessageQueue.number(other.channel.messages().take())).isEqualTo(buffer);
    client.channel.free(buffer);
    shared.repostUnowned(device.takeReceive()); // after any buffer that could have been freed
    await(() -> device.receives().size() == COUNT - 1);
    assertThat(device.receives()).doesNotContain(buffer);
  }

  @Test
  void buffersOfControlMessagesAreRepostedByThePollingThread() {
    Client client = new Client();
    int buffer = device.takeReceive();
    device.received(completions, client.number, buffer, 0, Immediate.of(Immediate.GRANT, 1001, 0));
    queue.poll();
    assertThat(device.receives()).hasSize(COUNT).endsWith(buffer);
  }

  @Test
  void aFailedPostIsReportedToTheConnectionThatFreedTheBuffer() {
    Client client = new Client();
    client.receive(1);
    device.receiveErrno = Errno.ENOMEM;
    client.freeNext(1);
    await(() -> !link.told.isEmpty());
    assertThat(link.told).containsExactly("ibv_post_srq_recv " + Errno.ENOMEM);
  }

  @Test
  void nothingIsPostedOnceTheGroupIsClosed() {
    Client client = new Client();
    client.receive(3);
    shared.close();
    client.freeNext(1);
    device.received(
        completions, client.number, COUNT - 1, 0, Immediate.of(Immediate.GRANT, 1001, 0));
    queue.poll();
    client.close();
    shared.repostUnowned(0);
    assertThat(device.receives()).hasSize(COUNT - 3);
  }
}
