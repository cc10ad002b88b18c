// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionState;
import dev.ferrule.ExposedMemory;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.RemoteAccessException;
import dev.ferrule.RemoteMemory;
import dev.ferrule.Rma;
import dev.ferrule.RmaRight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Atomic operations on the peer's memory. Skipped on a device that has none. */
public abstract class AtomicsContract extends Contract {

  private static final int SIZE = 4096;
  private static final int CONTENDERS = 4;

  /** Memory that is exposed. */
  private enum Kind {
    /** Memory of the program. */
    PROGRAM,
    /** Memory that Ferrule has allocated. */
    ALLOCATED
  }

  /**
   * Creates the tests.
   *
   * @param provider the provider under test
   */
  protected AtomicsContract(ProviderUnderTest provider) {
    super(provider);
  }

  private static MemorySegment memory() {
    return Arena.ofAuto().allocate(SIZE, 64);
  }

  private static long word(MemorySegment memory, long offset) {
    return memory.get(ValueLayout.JAVA_LONG, offset);
  }

  private static ExposedMemory expose(Connection owner, Kind kind, RmaRight... rights) {
    return kind == Kind.ALLOCATED
        ? supported(() -> owner.rma().allocate(SIZE, rights))
        : expose(owner, memory(), rights);
  }

  private static ExposedMemory expose(Connection owner, MemorySegment memory, RmaRight... rights) {
    return supported(() -> owner.rma().expose(memory, rights));
  }

  private static ExposedMemory supported(Supplier<ExposedMemory> exposing) {
    try {
      return exposing.get();
    } catch (UnsupportedOperationException e) {
      return abort(e.getMessage());
    }
  }

  /** The memory of a server, and a client that changes it. */
  private final class Attachment {
    private final Pair pair = connect();
    private final ExposedMemory exposed;
    private final MemorySegment theirs;
    private final Rma rma = pair.client().rma();
    private final RemoteMemory remote;
    private final MemorySegment mine = memory();
    private final RegisteredMemory local = pair.client().register(mine);

    Attachment(Kind kind, RmaRight... rights) {
      this.exposed = expose(pair.server(), kind, rights);
      this.theirs = exposed.segment();
      this.remote = rma.attach(exposed.handle());
    }

    Attachment(MemorySegment memory, RmaRight... rights) {
      this.exposed = expose(pair.server(), memory, rights);
      this.theirs = memory;
      this.remote = rma.attach(exposed.handle());
    }

    long add(long offset, long addend) {
      rma.await(rma.fetchAndAdd(local, 0, remote, offset, addend), PATIENCE);
      return word(mine, 0);
    }

    long swap(long offset, long expected, long desired) {
      rma.await(rma.compareAndSwap(local, 0, remote, offset, expected, desired), PATIENCE);
      return word(mine, 0);
    }
  }

  @ParameterizedTest
  @EnumSource
  void eachFormOfAnAtomicOperationDoesTheSame(Kind kind) {
    Attachment access = new Attachment(kind, RmaRight.ATOMIC);
    Rma rma = access.rma;
    RegisteredMemory local = access.local;
    RemoteMemory remote = access.remote;

    rma.await(rma.fetchAndAdd(local, 0, remote, 8, 3, PATIENCE), PATIENCE);
    assertThat(word(access.theirs, 8)).isEqualTo(3);
    rma.await(started(() -> rma.tryFetchAndAdd(local, 0, remote, 8, 4)), PATIENCE);
    assertThat(word(access.mine, 0)).isEqualTo(3);
    assertThat(word(access.theirs, 8)).isEqualTo(7);

    rma.await(rma.compareAndSwap(local, 0, remote, 8, 7, 9, PATIENCE), PATIENCE);
    assertThat(word(access.theirs, 8)).isEqualTo(9);
    long last = started(() -> rma.tryCompareAndSwap(local, 0, remote, 8, 7, 11));
    rma.await(last, PATIENCE);
    assertThat(word(access.mine, 0)).isEqualTo(9);
    assertThat(word(access.theirs, 8)).isEqualTo(9);
    assertThat(last).isEqualTo(4);
  }

  private static long started(LongSupplier access) {
    long id = access.getAsLong();
    while (id == 0) {
      idle();
      id = access.getAsLong();
    }
    return id;
  }

  @ParameterizedTest
  @EnumSource
  void anAdditionReturnsThePreviousValue(Kind kind) {
    Attachment access = new Attachment(kind, RmaRight.ATOMIC);
    access.theirs.set(ValueLayout.JAVA_LONG, 16, 40);

    assertThat(access.add(16, 2)).isEqualTo(40);
    assertThat(access.add(16, -50)).isEqualTo(42);
    assertThat(access.add(16, Long.MIN_VALUE)).isEqualTo(-8);
    assertThat(access.add(16, 0)).as("it wraps around").isEqualTo(Long.MAX_VALUE - 7);
    assertThat(word(access.theirs, 16)).isEqualTo(Long.MAX_VALUE - 7);
  }

  @ParameterizedTest
  @EnumSource
  void aSwapReturnsThePreviousValueAndSetsOnlyTheExpectedOne(Kind kind) {
    Attachment access = new Attachment(kind, RmaRight.ATOMIC);
    access.theirs.set(ValueLayout.JAVA_LONG, 16, 40);

    assertThat(access.swap(16, 41, 1)).isEqualTo(40);
    assertThat(word(access.theirs, 16)).isEqualTo(40);
    assertThat(access.swap(16, 40, -2)).isEqualTo(40);
    assertThat(word(access.theirs, 16)).isEqualTo(-2);
    assertThat(access.swap(16, -2, Long.MAX_VALUE)).isEqualTo(-2);
    assertThat(access.swap(16, -2, 5)).isEqualTo(Long.MAX_VALUE);
    assertThat(word(access.theirs, 16)).isEqualTo(Long.MAX_VALUE);
  }

  @ParameterizedTest
  @EnumSource
  void noOtherByteIsChangedOnEitherSide(Kind kind) {
    Attachment access = new Attachment(kind, RmaRight.ATOMIC);
    access.theirs.fill((byte) 0x11);
    access.mine.fill((byte) 0x22);
    MemorySegment theirs = memory().fill((byte) 0x11);
    MemorySegment mine = memory().fill((byte) 0x22);
    long before = 0x1111_1111_1111_1111L;
    for (long offset : new long[] {0, 8, 1000, SIZE - 8}) {
      long id = access.rma.fetchAndAdd(access.local, SIZE - 8 - offset, access.remote, offset, 1);
      access.rma.await(id, PATIENCE);
      theirs.set(ValueLayout.JAVA_LONG, offset, before + 1);
      mine.set(ValueLayout.JAVA_LONG, SIZE - 8 - offset, before);
    }
    assertThat(access.theirs.mismatch(theirs)).isEqualTo(-1);
    assertThat(access.mine.mismatch(mine)).isEqualTo(-1);
  }

  /**
   * Four connections, each with a thread, increment one counter in both ways; over shared memory
   * the processor does as well, in the owner's memory and in a client's view of it.
   */
  @ParameterizedTest
  @EnumSource
  void contendersLoseNoIncrement(Kind kind) {
    List<Counter> counters = new ArrayList<>();
    Pair first = connect();
    ExposedMemory exposed = expose(first.server(), kind, RmaRight.values());
    MemorySegment memory = exposed.segment();
    RemoteMemory remote = first.client().rma().attach(exposed.handle());
    counters.add(new CounterOfPeer(first.client(), remote));
    while (counters.size() < CONTENDERS) {
      Pair pair = connect();
      ExposedMemory again = expose(pair.server(), memory, RmaRight.ATOMIC);
      counters.add(new CounterOfPeer(pair.client(), pair.client().rma().attach(again.handle())));
    }
    if (!first.client().counters().rmaPath().equals(Optional.of("rdma"))) {
      counters.add(new CounterInMemory(memory));
      remote.view().ifPresent(view -> counters.add(new CounterInMemory(view)));
    }
    Contention contention = new Contention(counters.size(), provider.messages(200));
    List<Background<Increments>> contenders =
        counters.stream()
            .map(counter -> inBackground("contender", () -> contention.increment(counter)))
            .toList();
    List<Increments> all = contenders.stream().map(Background::result).toList();
    long total = all.stream().mapToLong(Increments::count).sum();
    assertThat(word(memory, 0)).isEqualTo(total);
    assertThat(all.stream().mapToLong(Increments::hash).sum())
        .as("each value is the previous one of exactly one increment")
        .isEqualTo(LongStream.range(0, total).map(AtomicsContract::hash).sum());
  }

  /** Returns a hash whose sum over several values identifies them, except by coincidence. */
  private static long hash(long value) {
    long mixed = value * 0x9e37_79b9_7f4a_7c15L;
    return mixed * (mixed >>> 32);
  }

  /** Increments that one thread has made. */
  private record Increments(long count, long hash) {}

  /** A counter, as one thread accesses it. Both operations return the previous value. */
  private interface Counter {
    long add();

    long swap(long expected);

    /** Increments it by a swap, if one of a few attempts succeeds despite faster contenders. */
    default long addBySwap(long likely) {
      long expected = likely;
      for (int tries = 0; tries < 4; tries++) {
        long previous = swap(expected);
        if (previous == expected) {
          return previous;
        }
        expected = previous;
      }
      return add();
    }
  }

  /** A counter in the memory of a peer. */
  private static final class CounterOfPeer implements Counter {
    private final Rma rma;
    private final RemoteMemory remote;
    private final RegisteredMemory local;

    CounterOfPeer(Connection client, RemoteMemory remote) {
      this.rma = client.rma();
      this.remote = remote;
      this.local = client.register(memory());
    }

    @Override
    public long add() {
      rma.await(rma.fetchAndAdd(local, 0, remote, 0, 1), PATIENCE);
      return word(local.segment(), 0);
    }

    @Override
    public long swap(long expected) {
      rma.await(rma.compareAndSwap(local, 8, remote, 0, expected, expected + 1), PATIENCE);
      return word(local.segment(), 8);
    }
  }

  /** A counter in memory that the processor can access. */
  private record CounterInMemory(MemorySegment memory) implements Counter {
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    @Override
    public long add() {
      return (long) LONG.getAndAdd(memory, 0L, 1L);
    }

    @Override
    public long swap(long expected) {
      return (long) LONG.compareAndExchange(memory, 0L, expected, expected + 1);
    }
  }

  /** Threads that increment a counter until each has often seen the increments of others. */
  private static final class Contention {
    private final CountDownLatch beginning;
    private final CountDownLatch seeing;
    private final int wanted;
    private volatile boolean isOver;

    Contention(int threads, int wanted) {
      this.beginning = new CountDownLatch(threads);
      this.seeing = new CountDownLatch(threads);
      this.wanted = wanted;
    }

    Increments increment(Counter counter) throws InterruptedException {
      beginning.countDown();
      beginning.await();
      long count = 0;
      long hash = 0;
      long next = 0;
      int seen = 0;
      try {
        while (seeing.getCount() > 0 && !isOver) {
          long previous = count % 2 == 0 ? counter.add() : counter.addBySwap(next);
          if (previous != next) {
            seen++;
            if (seen == wanted) {
              seeing.countDown();
            }
          }
          count++;
          hash += hash(previous);
          next = previous + 1;
        }
        return new Increments(count, hash);
      } finally {
        isOver = true; // also if this thread has failed
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void manyOperationsMayBeUnderWayBetweenOthers(Kind kind) {
    Attachment access = new Attachment(kind, RmaRight.values());
    Rma rma = access.rma;
    int words = SIZE / Long.BYTES;
    long last = 0;
    for (int i = 0; i < words; i++) {
      long at = (long) i * Long.BYTES;
      access.mine.set(ValueLayout.JAVA_LONG, at, -1);
      assertThat(rma.fetchAndAdd(access.local, at, access.remote, 0, 1)).isEqualTo(last + 1);
      last += 2;
      assertThat(rma.write(access.local, SIZE, access.remote, SIZE, 0)).isEqualTo(last);
    }
    rma.await(last, PATIENCE);

    assertThat(rma.isComplete(1)).isTrue();
    assertThat(word(access.theirs, 0)).isEqualTo(words);
    assertThat(LongStream.range(0, words).map(i -> word(access.mine, i * Long.BYTES)).sorted())
        .containsExactly(LongStream.range(0, words).boxed().toArray(Long[]::new));
  }

  @ParameterizedTest
  @EnumSource
  void operationsBehindAFenceSeeWhatWasDoneBeforeIt(Kind kind) {
    Attachment access = new Attachment(kind, RmaRight.values());
    Rma rma = access.rma;
    for (int i = 1; i <= 50; i++) {
      access.theirs.set(ValueLayout.JAVA_LONG, 8, 1000L + i);
      access.mine.set(ValueLayout.JAVA_LONG, 0, 7L * i);
      rma.write(access.local, 0, access.remote, 0, 8);
      rma.fence();
      rma.fetchAndAdd(access.local, 8, access.remote, 0, 1);
      rma.fence();
      rma.write(access.local, 8, access.remote, 16, 8); // the fetched value
      rma.fence();
      rma.compareAndSwap(access.local, 24, access.remote, 16, 7L * i, -i);
      rma.fence();
      rma.read(access.local, 32, access.remote, 8, 8);
      rma.fence();
      rma.await(rma.write(access.local, 32, access.remote, 24, 8), PATIENCE); // the read value

      assertThat(word(access.theirs, 0)).isEqualTo(7L * i + 1);
      assertThat(word(access.mine, 24)).isEqualTo(7L * i);
      assertThat(word(access.theirs, 16)).isEqualTo(-i);
      assertThat(word(access.theirs, 24)).isEqualTo(1000L + i);
    }
  }

  @ParameterizedTest
  @CsvSource({"1, 0", "4, 8", "7, 16", "0, 1", "8, 4", "16, 4087"})
  void aWordThatIsNotAlignedIsRefusedAndChangesNothing(long localOffset, long remoteOffset) {
    for (Kind kind : Kind.values()) {
      Attachment access = new Attachment(kind, RmaRight.ATOMIC);
      String side = localOffset % 8 == 0 ? "remote" : "local";
      assertThatThrownBy(() ->
              access.rma.fetchAndAdd(access.local, localOffset, access.remote, remoteOffset, 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(side)
          .hasMessageContaining("multiple of 8");
      assertThatThrownBy(() ->
              access.rma.compareAndSwap(
                  access.local, localOffset, access.remote, remoteOffset, 0, 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(side)
          .hasMessageContaining("multiple of 8");
      assertUntouched(access);
    }
  }

  /** Checks that nothing was changed, and that the next operation is the first. */
  private static void assertUntouched(Attachment access) {
    assertThat(access.theirs.mismatch(memory().asSlice(0, access.theirs.byteSize()))).isEqualTo(-1);
    assertThat(access.mine.mismatch(memory())).isEqualTo(-1);
    assertThatThrownBy(() -> access.rma.isComplete(1)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void theAddressOfTheMemoryDeterminesWhichOffsetsAreAligned() {
    MemorySegment memory = memory().asSlice(4);
    Attachment access = new Attachment(memory, RmaRight.ATOMIC);
    memory.set(ValueLayout.JAVA_LONG, 4, 17);

    assertThat(access.add(4, 1)).isEqualTo(17);
    assertThatThrownBy(() -> access.add(0, 1)).isInstanceOf(IllegalArgumentException.class);
    assertThat(word(memory, 4)).isEqualTo(18);

    RegisteredMemory local = access.pair.client().register(memory().asSlice(4));
    assertThatThrownBy(() -> access.rma.fetchAndAdd(local, 0, access.remote, 4, 1))
        .isInstanceOf(IllegalArgumentException.class);
    access.rma.await(access.rma.fetchAndAdd(local, 4, access.remote, 4, 1), PATIENCE);
    assertThat(word(local.segment(), 4)).isEqualTo(18);
  }

  @ParameterizedTest
  @CsvSource({
    "-8, 0",
    "0, -8",
    "4096, 0",
    "0, 4096",
    "4092, 0",
    "0, 4092",
    "9223372036854775800, 0",
    "0, 9223372036854775800"
  })
  void anOutOfBoundsOperationChangesNothing(long localOffset, long remoteOffset) {
    for (Kind kind : Kind.values()) {
      Attachment access = new Attachment(kind, RmaRight.ATOMIC);
      assertThatThrownBy(() ->
              access.rma.fetchAndAdd(access.local, localOffset, access.remote, remoteOffset, 1))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() ->
              access.rma.compareAndSwap(
                  access.local, localOffset, access.remote, remoteOffset, 0, 1))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertUntouched(access);
    }
  }

  @ParameterizedTest
  @EnumSource
  void theRightIsRequiredAndPermitsNothingElse(Kind kind) {
    Attachment without = new Attachment(kind, RmaRight.READ, RmaRight.WRITE);
    assertThat(without.remote.allows(RmaRight.ATOMIC)).isFalse();
    assertThatThrownBy(() -> without.add(0, 1))
        .isInstanceOf(RemoteAccessException.class)
        .hasMessageContaining("ATOMIC");
    assertThatThrownBy(() -> without.swap(0, 0, 1))
        .isInstanceOf(RemoteAccessException.class)
        .hasMessageContaining("ATOMIC");
    assertUntouched(without);

    Attachment with = new Attachment(kind, RmaRight.ATOMIC);
    assertThat(with.remote.allows(RmaRight.ATOMIC)).isTrue();
    assertThatThrownBy(() -> with.rma.read(with.local, 0, with.remote, 0, 8))
        .isInstanceOf(RemoteAccessException.class);
    assertThatThrownBy(() -> with.rma.write(with.local, 0, with.remote, 0, 8))
        .isInstanceOf(RemoteAccessException.class);
    with.remote.view().ifPresent(view -> assertThat(view.isReadOnly()).isTrue());
    assertThat(with.add(0, 1)).isZero();
  }

  @Test
  void readOnlyMemoryIsRefused() {
    Attachment access = new Attachment(Kind.PROGRAM, RmaRight.ATOMIC);
    RegisteredMemory readOnly = access.pair.client().register(memory().asReadOnly());

    assertThatThrownBy(() -> access.rma.fetchAndAdd(readOnly, 0, access.remote, 0, 1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> access.rma.compareAndSwap(readOnly, 0, access.remote, 0, 0, 1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> access.rma.expose(memory().asReadOnly(), RmaRight.ATOMIC))
        .isInstanceOf(IllegalArgumentException.class);
    assertUntouched(access);
  }

  @Test
  void remoteMemoryOfAnotherConnectionAndAClosedRegistrationAreRefused() {
    Attachment access = new Attachment(Kind.PROGRAM, RmaRight.ATOMIC);
    Attachment other = new Attachment(Kind.PROGRAM, RmaRight.ATOMIC);

    assertThatThrownBy(() -> access.rma.fetchAndAdd(access.local, 0, other.remote, 0, 1))
        .isInstanceOf(IllegalArgumentException.class);
    access.local.close();
    assertThatThrownBy(() -> access.rma.fetchAndAdd(access.local, 0, access.remote, 0, 1))
        .isInstanceOf(IllegalStateException.class);
    assertUntouched(access);
    assertUntouched(other);

    access.rma.await(access.rma.fetchAndAdd(other.local, 0, access.remote, 0, 1), PATIENCE);
    assertThat(word(access.theirs, 0)).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource
  void revokedMemoryIsNoLongerChanged(Kind kind) {
    Attachment access = new Attachment(kind, RmaRight.ATOMIC);
    access.exposed.close();

    assertThatThrownBy(() -> access.add(0, 1)).isInstanceOf(RemoteAccessException.class);
    assertThatThrownBy(() -> access.swap(0, 0, 1)).isInstanceOf(RemoteAccessException.class);
    if (kind == Kind.PROGRAM) {
      assertThat(word(access.theirs, 0)).isZero();
      ExposedMemory again = expose(access.pair.server(), access.theirs, RmaRight.ATOMIC);
      RemoteMemory remote = access.rma.attach(again.handle());
      access.rma.await(access.rma.fetchAndAdd(access.local, 0, remote, 0, 1), PATIENCE);
      assertThat(word(access.theirs, 0)).isEqualTo(1);
    }
  }

  /**
   * A peer that adds continuously must not change memory after its owner has revoked the access.
   */
  @Test
  void nothingIsChangedAfterARevocationDuringOperations() {
    for (int round = 0; round < 10; round++) {
      Attachment access = new Attachment(Kind.PROGRAM, RmaRight.ATOMIC);
      Background<Boolean> adding = startAdding(access, RemoteAccessException.class);

      access.exposed.close();
      long atTheEnd = word(access.theirs, 0);

      adding.result();
      assertThat(word(access.theirs, 0)).isEqualTo(atTheEnd);
    }
  }

  /** Starts a thread that adds until it gets one of the exceptions; returns once it has added. */
  private Background<Boolean> startAdding(Attachment access, Class<?>... expected) {
    Background<Boolean> adding =
        inBackground(
            "adder",
            () -> {
              assertThatThrownBy(() -> addAgainAndAgain(access)).isInstanceOfAny(expected);
            });
    eventually("something was added", () -> word(access.theirs, 0) != 0);
    return adding;
  }

  private static void addAgainAndAgain(Attachment access) {
    while (true) {
      access.add(0, 1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aConnectionThatEndsEndsItsOperations(Kind kind) {
    Attachment access = new Attachment(kind, RmaRight.ATOMIC);
    access.add(0, 1);

    access.pair.server().close();
    eventually("the close is detected", () -> access.pair.client().state() != ConnectionState.OPEN);
    assertThatThrownBy(() -> access.add(0, 1))
        .isInstanceOfSatisfying(
            ConnectionClosedException.class, e -> assertThat(e.closedByPeer()).isTrue());
    access.pair.client().close();

    assertThatThrownBy(() -> access.add(0, 1)).isInstanceOf(ConnectionClosedException.class);
    assertThatThrownBy(() -> access.swap(0, 0, 1)).isInstanceOf(ConnectionClosedException.class);
  }

  @Test
  void closingDuringOperationsHangsNeitherSide() {
    for (int round = 0; round < 10; round++) {
      Attachment access = new Attachment(Kind.PROGRAM, RmaRight.ATOMIC);
      Background<Boolean> adding =
          startAdding(access, ConnectionClosedException.class, IllegalStateException.class);

      (round % 2 == 0 ? access.pair.server() : access.pair.client()).close();

      adding.result();
    }
  }

  @ParameterizedTest
  @EnumSource
  void operationsAllocateNothing(Kind kind) {
    Attachment access = new Attachment(kind, RmaRight.ATOMIC);
    int operations = provider.messages(5_000);
    Runnable round =
        () -> {
          for (int i = 0; i < operations; i++) {
            access.add(8, 1);
            access.swap(16, i, i + 1);
          }
        };
    round.run();
    AllocationContract.assertAllocatesNothing(round);
  }
}
