// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionState;
import dev.ferrule.ExposedMemory;
import dev.ferrule.FerruleException;
import dev.ferrule.Listener;
import dev.ferrule.OperationInterruptedException;
import dev.ferrule.PeerLostException;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.RemoteAccessException;
import dev.ferrule.RemoteMemory;
import dev.ferrule.Rma;
import dev.ferrule.RmaRight;
import dev.ferrule.StandardOptions;
import dev.ferrule.posix.Errno;
import dev.ferrule.posix.Posix;
import dev.ferrule.posix.libc.LibC;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The selection of a connection's method of copying, and operations whose method fails. */
class RmaPathsTest {

  private static final long SIZE = 40L << 20; // several pieces of any method
  private static final long NOT_SOON_MILLIS = 100;
  private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

  /** Without keepalives: a connection whose endpoint's thread is kept busy must not time out. */
  private static final ConnectionOptions BY_FRAGMENTS =
      ConnectionOptions.builder().set("rma", "mmap").set("peerTimeout", "0").build();

  @TempDir private Path folder;

  private final SmUnderTest addresses = new SmUnderTest();
  private final FakeKnem knem = new FakeKnem();
  private final SmProvider withKnem = new SmProvider(() -> knem);
  private final SmProvider without = new SmProvider(() -> null);

  private record Pair(Connection client, Connection server) implements AutoCloseable {
    @Override
    public void close() {
      client.close();
      server.close();
    }
  }

  @AfterEach
  void removeDirectory() {
    addresses.close();
  }

  private Pair connect(SmProvider provider, String choice) {
    return connect(provider, choice, choice);
  }

  private Pair connect(SmProvider provider, String clientChoice, String serverChoice) {
    return connect(
        provider,
        ConnectionOptions.builder().set("rma", clientChoice).build(),
        ConnectionOptions.builder().set("rma", serverChoice).build());
  }

  private Pair connect(SmProvider provider, ConnectionOptions client, ConnectionOptions server) {
    try (Listener listener = provider.listen(addresses.listenAddress(), server)) {
      CompletableFuture<Connection> connecting =
          CompletableFuture.supplyAsync(() -> provider.connect(listener.uri(), client));
      Connection accepted = listener.accept();
      return new Pair(connecting.join(), accepted);
    }
  }

  /** Checks that 40 MiB are transferred correctly, written and read back. */
  private static void checkTransfer(Pair pair) {
    MemorySegment theirs = Arena.ofAuto().allocate(SIZE);
    MemorySegment mine = Arena.ofAuto().allocate(SIZE);
    MemorySegment back = Arena.ofAuto().allocate(SIZE);
    for (long i = 0; i < SIZE; i += Long.BYTES) {
      mine.set(ValueLayout.JAVA_LONG, i, i * 0x9e3779b97f4a7c15L);
    }
    Rma rma = pair.client().rma();
    try (ExposedMemory exposed = pair.server().rma().expose(theirs, RmaRight.READ, RmaRight.WRITE);
        RegisteredMemory local = pair.client().register(mine);
        RegisteredMemory target = pair.client().register(back)) {
      RemoteMemory remote = rma.attach(exposed.handle());
      rma.await(rma.write(local, 0, remote, 0, SIZE));
      assertThat(theirs.mismatch(mine)).isEqualTo(-1);
      rma.await(rma.read(target, 0, remote, 0, SIZE));
      assertThat(back.mismatch(mine)).isEqualTo(-1);
    }
  }

  @Test
  void knemIsPreferredWhereTheOwnerOfTheMemoryChoosesIt() {
    try (Pair pair = connect(withKnem, "auto", "knem")) {
      assertThat(pair.client().counters().rmaPath()).hasValue("knem");
      int before = knem.copies();
      checkTransfer(pair);
      assertThat(knem.copies()).isGreaterThan(before);
      assertThat(pair.client().counters().rmaPath()).hasValue("knem");
    }
    assertThat(knem.regions()).as("regions but for the probe's").isEqualTo(1);
  }

  /**
   * A fork of the owner, possibly by a library without the program's knowledge, detaches regions.
   */
  @Test
  void memoryIsNotPinnedUnlessItsOwnerChoosesIt() {
    try (Pair pair = connect(withKnem, "auto")) {
      assertThat(pair.client().counters().rmaPath()).hasValue("cma");
      checkTransfer(pair);
      pair.server().rma().expose(Arena.ofAuto().allocate(8), RmaRight.READ);
      assertThat(knem.regions()).isZero();
    }
    try (Pair pair = connect(withKnem, "knem", "auto")) {
      assertThatThrownBy(() -> checkTransfer(pair))
          .isInstanceOf(FerruleException.class)
          .hasMessageContaining("set rma=knem on both sides");
      assertThat(pair.server().counters().rmaPath()).as("the other direction").hasValue("knem");
    }
  }

  @Test
  void crossMemoryAttachIsPreferredToFragments() {
    try (Pair pair = connect(without, "auto")) {
      assertThat(pair.client().counters().rmaPath()).hasValue("cma");
      checkTransfer(pair);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"knem", "cma", "mmap"})
  void aProgramMaySelectAMethod(String choice) {
    try (Pair pair = connect(withKnem, choice)) {
      checkTransfer(pair);
      assertThat(pair.client().counters().rmaPath()).hasValue(choice);
      assertThat(knem.copies() > 2).isEqualTo(choice.equals("knem"));
    }
  }

  /**
   * The client changes a counter in turn with copies by its method, while the server's processor
   * changes it, and the client's if the memory is mapped.
   */
  @ParameterizedTest
  @CsvSource({"knem, false", "cma, false", "mmap, false", "knem, true", "cma, true", "mmap, true"})
  void operationsAndProcessorsLoseNoIncrement(String choice, boolean allocated) {
    int each = allocated ? 200_000 : 5_000; // the latter take a wake-up each
    try (Pair pair = connect(withKnem, choice);
        ExposedMemory exposed =
            allocated
                ? pair.server().rma().allocate(64, RmaRight.values())
                : pair.server().rma().expose(Arena.ofAuto().allocate(64, 64), RmaRight.values())) {
      Rma rma = pair.client().rma();
      RemoteMemory remote = rma.attach(exposed.handle());
      assertThat(remote.view().isPresent()).isEqualTo(allocated);
      AtomicBoolean over = new AtomicBoolean();
      CompletableFuture<Long> owner = increment(exposed.segment(), over);
      CompletableFuture<Long> viewer =
          remote
              .view()
              .map(view -> increment(view, over))
              .orElse(CompletableFuture.completedFuture(0L));
      MemorySegment mine = Arena.ofAuto().allocate(64, 64);
      RegisteredMemory local = pair.client().register(mine);
      long last = -1;
      for (int i = 0; i < each; i++) {
        long adding = rma.fetchAndAdd(local, 0, remote, 0, 1);
        rma.await(rma.read(local, 8, remote, 0, 8));
        assertThat(rma.isComplete(adding)).isTrue();
        assertThat(word(mine, 0)).isGreaterThan(last);
        assertThat(word(mine, 8)).as("read after the addition").isGreaterThan(word(mine, 0));
        last = word(mine, 0);
      }
      over.set(true);
      long others = owner.join() + viewer.join();
      assertThat(word(exposed.segment(), 0)).isEqualTo(each + others);
      assertThat(pair.client().counters().rmaPath()).hasValue(choice);
    }
  }

  /** Increments a word in a thread of its own; the result is how often. */
  private static CompletableFuture<Long> increment(MemorySegment memory, AtomicBoolean over) {
    return CompletableFuture.supplyAsync(
        () -> {
          long times = 0;
          while (!over.get()) {
            long ignored = (long) WORD.getAndAdd(memory, 0L, 1L);
            times++;
            if (times % 1_000 == 0) {
              Thread.yield(); // there may be fewer processors than threads
            }
          }
          return times;
        },
        task -> Thread.ofPlatform().daemon().start(task));
  }

  private static long word(MemorySegment memory, long offset) {
    return (long) WORD.getVolatile(memory, offset);
  }

  @Test
  void anUnavailableMethodIsReportedWithTheReason() {
    try (Pair pair = connect(without, "knem")) {
      assertThatThrownBy(() -> pair.client().rma())
          .isInstanceOf(FerruleException.class)
          .hasMessageContaining("rma=knem does not work here")
          .hasMessageContaining("/dev/knem")
          .hasMessageContaining("use rma=auto");
      pair.client().sender().send(MemorySegment.ofArray(new byte[3])); // messages are not affected
      assertThat(pair.server().receiver().receive().length()).isEqualTo(3);
    }
  }

  /** EPERM, ESRCH, EINVAL, ENODEV: the device is gone, or access was revoked. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3, 22, 19})
  void aMethodThatFailsDuringAnOperationIsReplacedByTheNextWithoutLoss(int errno) {
    try (Pair pair = connect(withKnem, "auto", "knem")) {
      assertThat(pair.client().counters().rmaPath()).hasValue("knem");
      knem.failAfter(1, errno);

      checkTransfer(pair);

      assertThat(pair.client().counters().rmaPath()).hasValue("cma");
    }
  }

  /** Memory whose pages are replaced by a write, unless it was written to before. */
  private enum Fresh {
    /** No page is mapped. */
    UNTOUCHED,
    /** The zero page is mapped. */
    ONLY_READ,
    /** The huge zero page is mapped, where the kernel has one. */
    ONLY_READ_AND_HUGE,
    /** A private mapping of a file, of which the page cache is mapped. */
    PRIVATE_FILE;

    private static final int MADV_HUGEPAGE = 14;
    private static final long HUGE = 2 << 20;

    MemorySegment map(Path folder, long size) throws IOException {
      if (this == PRIVATE_FILE) {
        Path file = Files.write(folder.resolve("file"), new byte[(int) size]);
        try (FileChannel channel =
            FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
          return readAll(channel.map(FileChannel.MapMode.PRIVATE, 0, size, Arena.ofAuto()));
        }
      }
      int flags = Posix.MAP_PRIVATE | Posix.MAP_ANONYMOUS;
      int protection = Posix.PROT_READ | Posix.PROT_WRITE;
      MemorySegment all = LibC.mmap(MemorySegment.NULL, 2 * HUGE, protection, flags, -1, 0);
      long offset = Math.floorMod(-all.address(), HUGE);
      MemorySegment memory = all.reinterpret(2 * HUGE).asSlice(offset, size); // is not unmapped
      if (this == ONLY_READ_AND_HUGE) {
        LibC.madvise(memory, HUGE, MADV_HUGEPAGE);
      }
      return this == UNTOUCHED ? memory : readAll(memory);
    }

    private static MemorySegment readAll(MemorySegment memory) {
      assertThat(memory.mismatch(Arena.ofAuto().allocate(memory.byteSize()))).isEqualTo(-1);
      return memory;
    }
  }

  /** Cross-memory attach always uses the current pages, so it is not affected. */
  @ParameterizedTest
  @EnumSource
  void bytesWrittenToFreshMemoryAfterItsExposureForReadingAreRead(Fresh fresh) throws Exception {
    MemorySegment whole = fresh.map(folder, 64 << 10);
    for (MemorySegment theirs : List.of(whole, whole.asSlice(4096 + 100, 6000))) {
      try (Pair pair = connect(withKnem, "knem");
          ExposedMemory exposed = pair.server().rma().expose(theirs, RmaRight.READ)) {
        theirs.fill((byte) 7);
        assertThat(read(pair, exposed).mismatch(theirs)).isEqualTo(-1);
        theirs.fill((byte) 8);
        assertThat(read(pair, exposed).mismatch(theirs)).isEqualTo(-1);
      }
    }
  }

  private static MemorySegment read(Pair pair, ExposedMemory exposed) {
    Rma rma = pair.client().rma();
    RemoteMemory remote = rma.attach(exposed.handle());
    MemorySegment mine = Arena.ofAuto().allocate(remote.length());
    rma.await(rma.read(pair.client().register(mine), 0, remote, 0, remote.length()));
    return mine;
  }

  @Test
  void theDriverRejectsWritesToMemoryThatIsExposedForReading() {
    try (Pair pair = connect(withKnem, "knem");
        ExposedMemory exposed =
            pair.server().rma().expose(Arena.ofAuto().allocate(8), RmaRight.READ)) {
      assertThat(exposed.handle().toBytes()).isNotEmpty();
      assertThat(knem.regions()).as("the probe's and this one").isEqualTo(2);
      assertThat(knem.writableRegions()).isZero();
    }
  }

  @Test
  void aSharedMappingForReadingIsReadByKnem() throws Exception {
    Path file = Files.write(folder.resolve("file"), new byte[10_000]);
    try (Arena arena = Arena.ofShared();
        FileChannel channel =
            FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
        Pair pair = connect(withKnem, "knem")) {
      MemorySegment theirs = channel.map(FileChannel.MapMode.READ_ONLY, 0, 10_000, arena);
      ExposedMemory exposed = pair.server().rma().expose(theirs, RmaRight.READ);
      channel.map(FileChannel.MapMode.READ_WRITE, 0, 10_000, arena).fill((byte) 9);
      assertThat(read(pair, exposed).get(ValueLayout.JAVA_BYTE, 9_999)).isEqualTo((byte) 9);
      assertThat(pair.client().counters().rmaPath()).hasValue("knem");
    }
  }

  /** Its pages may be replaced once it becomes writable. */
  @Test
  void aPrivateMappingForReadingIsNotReadByKnem() {
    int flags = Posix.MAP_PRIVATE | Posix.MAP_ANONYMOUS;
    MemorySegment theirs =
        LibC.mmap(MemorySegment.NULL, 4096, Posix.PROT_READ, flags, -1, 0).reinterpret(4096);
    try (Pair pair = connect(withKnem, "knem")) {
      ExposedMemory exposed = pair.server().rma().expose(theirs, RmaRight.READ);
      assertThatThrownBy(() -> read(pair, exposed))
          .isInstanceOf(RemoteAccessException.class)
          .hasMessageContaining("rma=knem cannot access this memory")
          .hasMessageContaining("set rma=auto");
      checkTransfer(pair); // other memory is not affected
    }
    try (Pair pair = connect(withKnem, "auto", "knem")) {
      assertThat(read(pair, pair.server().rma().expose(theirs, RmaRight.READ)).mismatch(theirs))
          .isEqualTo(-1);
      assertThat(pair.client().counters().rmaPath()).hasValue("cma");
    }
    LibC.munmap(theirs, 4096);
  }

  @Test
  void noMessageFollowsAFailedWriteUntilEachFailureIsReported() {
    try (Pair pair = connect(withKnem, "mmap")) {
      Rma rma = pair.client().rma();
      MemorySegment theirs = Arena.ofAuto().allocate(8);
      ExposedMemory exposed = pair.server().rma().expose(theirs, RmaRight.WRITE);
      ExposedMemory closed = pair.server().rma().expose(theirs, RmaRight.WRITE);
      RemoteMemory remote = rma.attach(exposed.handle());
      RemoteMemory revoked = rma.attach(closed.handle());
      closed.close();
      RegisteredMemory local = pair.client().register(Arena.ofAuto().allocate(8));
      MemorySegment message = MemorySegment.ofArray(new byte[1]);
      long first = rma.write(local, 0, revoked, 0, 8);
      long second = rma.write(local, 0, revoked, 0, 8);
      rma.fence(); // reports none

      assertThat(failedBy(() -> rma.writeAndSend(local, 0, remote, 0, 8, message)))
          .isEqualTo(first);
      assertThat(failedBy(() -> rma.writeAndSend(local, 0, remote, 0, 8, message)))
          .isEqualTo(second);
      assertThat(pair.client().counters().messagesSent()).isZero();
      rma.await(rma.writeAndSend(local, 0, remote, 0, 8, message));
      pair.server().receiver().receive().close();
    }
  }

  private static long failedBy(Runnable access) {
    return catchThrowableOfType(RemoteAccessException.class, access::run).operation();
  }

  /**
   * Delays the detection of the end of the server's process until the calling thread waits for it,
   * or is done.
   */
  private static void detectEndOfServerLate(Pair pair) {
    Thread initiator = Thread.currentThread();
    Thread.ofPlatform()
        .daemon()
        .start(() -> {
          while (initiator.getState() == Thread.State.RUNNABLE) {
            Thread.onSpinWait();
          }
          ((SmConnection) pair.client()).onPeerGone();
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"knem", "auto"})
  void aRegionWhoseOwnersProcessHasEndedIsALostPeer(String choice) {
    try (Pair pair = connect(withKnem, choice, "knem")) {
      ExposedMemory exposed = pair.server().rma().expose(Arena.ofAuto().allocate(8), RmaRight.READ);
      RemoteMemory remote = pair.client().rma().attach(exposed.handle());
      RegisteredMemory local = pair.client().register(Arena.ofAuto().allocate(8));
      knem.endOwner();
      detectEndOfServerLate(pair);
      assertThatThrownBy(() -> pair.client().rma().read(local, 0, remote, 0, 8))
          .isInstanceOf(PeerLostException.class);
    }
  }

  @Test
  void aProcessThatEndsBeforeItsProbeIsCopiedIsALostPeer() {
    knem.failAfter(0, Errno.EINVAL);
    try (Pair pair = connect(withKnem, "knem")) {
      ExposedMemory exposed = pair.server().rma().expose(Arena.ofAuto().allocate(8), RmaRight.READ);
      RemoteMemory remote = pair.client().rma().attach(exposed.handle());
      RegisteredMemory local = pair.client().register(Arena.ofAuto().allocate(8));
      detectEndOfServerLate(pair);
      assertThatThrownBy(() -> pair.client().rma().read(local, 0, remote, 0, 8))
          .isInstanceOf(PeerLostException.class);
    }
  }

  /** A write of the peer to the memory that has begun, in the driver, and does not return. */
  private final class Writing implements AutoCloseable {
    /** No close may time out before its test has checked it. */
    final ConnectionOptions options =
        ConnectionOptions.builder()
            .set("rma", "knem")
            .set(StandardOptions.CLOSE_TIMEOUT, Duration.ofMinutes(4))
            .build();

    final Pair pair = connect(withKnem, options, options);
    final ExposedMemory exposed =
        pair.server().rma().expose(Arena.ofAuto().allocate(8), RmaRight.WRITE);
    final RegisteredMemory local = pair.client().register(Arena.ofAuto().allocate(8));
    final FakeKnem.Hold hold;
    final CompletableFuture<Void> writing;

    Writing() throws Exception {
      Rma rma = pair.client().rma();
      RemoteMemory remote = rma.attach(exposed.handle());
      hold = knem.holdCopies();
      writing = inBackground(() -> rma.await(rma.write(local, 0, remote, 0, 8)));
      hold.awaitCopy();
    }

    CompletableFuture<Void> inBackground(Runnable work) {
      return CompletableFuture.runAsync(work, task -> Thread.ofPlatform().daemon().start(task));
    }

    /** No thread may return before the peer's copy has ended; then all do. */
    void awaitAll(List<CompletableFuture<Void>> waiting) throws Exception {
      Thread.sleep(NOT_SOON_MILLIS); // too short a time could only pass a wrong implementation
      assertThat(waiting).noneMatch(CompletableFuture::isDone);
      hold.release();
      for (CompletableFuture<Void> each : waiting) {
        each.get();
      }
    }

    @Override
    public void close() {
      hold.release();
      pair.close();
    }
  }

  @Test
  void takingMemoryBackWaitsForThePeersAccessAlthoughAnotherThreadWaitsToo() throws Exception {
    try (Writing held = new Writing()) {
      CompletableFuture<Void> first = held.inBackground(held.exposed::close);
      CompletableFuture<Void> second = held.inBackground(held.exposed::close);
      CompletableFuture<Void> third = held.inBackground(held.pair.server()::close);
      held.awaitAll(List.of(first, second, third));
    }
  }

  @Test
  void memoryIsNotTakenBackFromAPeerThatHasClosedAndStillAccessesIt() throws Exception {
    try (Writing held = new Writing()) {
      CompletableFuture<Void> closing = held.inBackground(held.pair.client()::close);
      while (held.pair.server().state() == ConnectionState.OPEN) {
        Thread.onSpinWait();
      }
      CompletableFuture<Void> takingBack = held.inBackground(held.exposed::close);
      held.awaitAll(List.of(closing, takingBack));
    }
  }

  @Test
  void aRegistrationIsNotClosedBeforeTheAccessThatUsesIt() throws Exception {
    try (Writing held = new Writing()) {
      held.awaitAll(List.of(held.inBackground(held.local::close)));
      held.writing.get();
    }
  }

  @Test
  void aMethodThatFailsWithoutASuccessorEndsTheOperationWithTheReason() {
    try (Pair pair = connect(withKnem, "knem")) {
      knem.failAfter(1, Errno.EPERM);
      assertThatThrownBy(() -> checkTransfer(pair))
          .isInstanceOf(FerruleException.class)
          .hasMessageContaining("rma=knem does not work here")
          .hasMessageContaining("not permitted");
    }
  }

  @Test
  void aPeerThatClosesDuringAWriteViolatesNoProtocol() throws Exception {
    Connection server = serverThatLooksAfter(Connection::close);
    assertThat(server.state()).isEqualTo(ConnectionState.CLOSED_BY_PEER);
    assertThat(server.failure()).isNull();
    server.close();
  }

  @Test
  void anInterruptedAccessDoesNotDelayTheCloseOfItsMemory() throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    try (Listener listener = without.listen(addresses.listenAddress(), BY_FRAGMENTS);
        Pair pair = connect(listener)) {
      Rma rma = pair.client().rma();
      MemorySegment memory = Arena.ofAuto().allocate(SIZE);
      RegisteredMemory local = pair.client().register(Arena.ofAuto().allocate(SIZE));
      RemoteMemory remote = rma.attach(pair.server().rma().expose(memory, RmaRight.WRITE).handle());
      keepEndpointBusy(listener, goOn);
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> rma.write(local, 0, remote, 0, SIZE))
          .isInstanceOf(OperationInterruptedException.class);
      assertThat(Thread.interrupted()).isTrue();

      local.close();

      assertThat(pair.client().failure()).isNull();
      goOn.countDown();
      RegisteredMemory further = pair.client().register(Arena.ofAuto().allocate(8));
      rma.await(rma.write(further, 0, remote, 0, 8));
    } finally {
      goOn.countDown();
    }
  }

  /**
   * Has a client write by fragments and run an action, while the server's endpoint is busy with the
   * end of another connection; returns the server's side when it has ended.
   */
  private Connection serverThatLooksAfter(Consumer<Connection> action) throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    CountDownLatch ended = new CountDownLatch(1);
    try (Listener listener = without.listen(addresses.listenAddress(), BY_FRAGMENTS)) {
      Pair pair = connect(listener);
      MemorySegment memory = Arena.ofAuto().allocate(64);
      RegisteredMemory local = pair.client().register(Arena.ofAuto().allocate(64));
      RemoteMemory remote =
          pair.client().rma().attach(pair.server().rma().expose(memory, RmaRight.WRITE).handle());
      keepEndpointBusy(listener, goOn);
      pair.client().rma().write(local, 0, remote, 0, 64);
      action.accept(pair.client());
      pair.server().onClose(closed -> ended.countDown());
      goOn.countDown();
      ended.await();
      pair.client().close();
      return pair.server();
    } finally {
      goOn.countDown();
    }
  }

  /** Blocks the listener's endpoint until it may continue. */
  private void keepEndpointBusy(Listener listener, CountDownLatch goOn) throws Exception {
    CountDownLatch busy = new CountDownLatch(1);
    Pair other = connect(listener);
    other
        .server()
        .onClose(closed -> {
          busy.countDown();
          awaitUninterruptibly(goOn);
          closed.close();
        });
    other.client().close();
    busy.await();
  }

  private Pair connect(Listener listener) {
    CompletableFuture<Connection> connecting =
        CompletableFuture.supplyAsync(() -> without.connect(listener.uri(), BY_FRAGMENTS));
    Connection server = listener.accept();
    return new Pair(connecting.join(), server);
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
