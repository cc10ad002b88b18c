// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionRejectedException;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.ExposedMemory;
import dev.ferrule.Listener;
import dev.ferrule.MessageTooLongException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.RemoteAccessException;
import dev.ferrule.RemoteMemory;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.Rma;
import dev.ferrule.RmaHandle;
import dev.ferrule.RmaRight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Remote memory access. */
public abstract class RmaContract extends Contract {

  private static final int SIZE = 64 * KIB;
  private static final int LARGE = 5 * MIB + 13; // several fragments and a remainder
  private static final RmaRight[] BOTH = {RmaRight.READ, RmaRight.WRITE};

  /**
   * Creates the tests.
   *
   * @param provider the provider under test
   */
  protected RmaContract(ProviderUnderTest provider) {
    super(provider);
  }

  private static MemorySegment memory(long size) {
    return Arena.ofAuto().allocate(size, 64);
  }

  private static MemorySegment filled(long size, long seed) {
    MemorySegment memory = memory(size);
    fill(memory, seed);
    return memory;
  }

  private static void fill(MemorySegment memory, long seed) {
    for (long i = 0; i < memory.byteSize(); i++) {
      memory.set(ValueLayout.JAVA_BYTE, i, (byte) ((i * 31) ^ (i >>> 8) ^ seed));
    }
  }

  /** Exposes the server's memory to the client. */
  private static RemoteMemory attach(Pair pair, MemorySegment memory, RmaRight... rights) {
    ExposedMemory exposed = pair.server().rma().expose(memory, rights);
    return pair.client().rma().attach(RmaHandle.of(exposed.handle().toBytes()));
  }

  private static void assertSame(MemorySegment actual, MemorySegment expected) {
    assertThat(actual.byteSize()).isEqualTo(expected.byteSize());
    assertThat(actual.mismatch(expected)).as("where they differ").isEqualTo(-1);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0, 0",
    "0, 0, 1",
    "1, 2, 3",
    "7, 64, 8",
    "100, 33, 4096",
    "0, 0, 65536",
    "65535, 65535, 1",
    "65536, 65536, 0",
    "1, 0, 65535"
  })
  void anyPartOfTheMemoryCanBeWrittenAndRead(int localOffset, int remoteOffset, int length) {
    Pair pair = connect();
    MemorySegment theirs = filled(SIZE, 1);
    MemorySegment expected = filled(SIZE, 1);
    MemorySegment mine = filled(SIZE, 2);
    MemorySegment back = filled(SIZE, 3);
    Rma rma = pair.client().rma();
    RemoteMemory remote = attach(pair, theirs, BOTH);
    RegisteredMemory local = pair.client().register(mine);
    RegisteredMemory target = pair.client().register(back);

    rma.await(rma.write(local, localOffset, remote, remoteOffset, length));
    MemorySegment.copy(mine, localOffset, expected, remoteOffset, length);
    assertSame(theirs, expected);

    rma.await(rma.read(target, localOffset, remote, remoteOffset, length));
    MemorySegment expectedBack = filled(SIZE, 3);
    MemorySegment.copy(mine, localOffset, expectedBack, localOffset, length);
    assertSame(back, expectedBack);
    assertSame(theirs, expected);
  }

  @Test
  void transfersLargerThanAnyBufferAreComplete() {
    Pair pair = connect();
    MemorySegment theirs = memory(LARGE);
    MemorySegment mine = filled(LARGE, 4);
    MemorySegment back = memory(LARGE);
    Rma rma = pair.client().rma();
    RemoteMemory remote = attach(pair, theirs, BOTH);

    rma.await(rma.write(pair.client().register(mine), 0, remote, 0, LARGE), PATIENCE);
    assertSame(theirs, mine);
    rma.await(rma.read(pair.client().register(back), 0, remote, 0, LARGE), PATIENCE);
    assertSame(back, mine);
  }

  @Test
  void allocatedMemoryIsZeroedAndAccessedLikeAnyOther() {
    Pair pair = connect();
    Rma rma = pair.client().rma();
    RegisteredMemory mine = pair.client().register(filled(SIZE, 4));
    RegisteredMemory back = pair.client().register(memory(SIZE));
    for (int round = 0; round < 3; round++) {
      try (ExposedMemory theirs = pair.server().rma().allocate(SIZE, BOTH)) {
        assertThat(theirs.segment().byteSize()).isEqualTo(SIZE);
        assertThat(theirs.segment().address() % 4096).isZero();
        assertSame(theirs.segment(), memory(SIZE));
        RemoteMemory remote = rma.attach(theirs.handle());
        assertThat(remote.length()).isEqualTo(SIZE);
        rma.await(rma.write(mine, 1, remote, 100, SIZE - 1000), PATIENCE);
        assertSame(
            theirs.segment().asSlice(100, SIZE - 1000), mine.segment().asSlice(1, SIZE - 1000));
        rma.await(rma.read(back, 0, remote, 0, SIZE), PATIENCE);
        assertSame(back.segment(), theirs.segment());
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"READ", "WRITE"})
  void allocatedMemoryCanBeViewedIfMapped(RmaRight right) {
    Pair pair = connect();
    try (ExposedMemory theirs = pair.server().rma().allocate(SIZE, right)) {
      theirs.segment().fill((byte) 7);
      RemoteMemory remote = pair.client().rma().attach(theirs.handle());
      remote
          .view()
          .ifPresent(view -> {
            assertThat(view.byteSize()).isEqualTo(SIZE);
            assertThat(view.get(ValueLayout.JAVA_BYTE, 100)).isEqualTo((byte) 7);
            assertThat(view.isReadOnly()).isEqualTo(right == RmaRight.READ);
            if (!view.isReadOnly()) {
              view.set(ValueLayout.JAVA_BYTE, 100, (byte) 8);
              assertThat(theirs.segment().get(ValueLayout.JAVA_BYTE, 100)).isEqualTo((byte) 8);
            }
          });
    }
  }

  @Test
  void otherMemoryIsNotMapped() {
    assertThat(attach(connect(), memory(SIZE), BOTH).view()).isEmpty();
  }

  @Test
  void memoryThatIsKeptFromAClosedConnectionCrashesNothingAndExposedMemoryStaysTheProgramsOwn() {
    Pair pair = connect();
    MemorySegment own = filled(SIZE, 5);
    ExposedMemory exposed = pair.server().rma().expose(own, BOTH);
    ExposedMemory allocated = pair.server().rma().allocate(SIZE, BOTH);
    RegisteredMemory registered = pair.server().register(own);
    RemoteMemory remote = pair.client().rma().attach(allocated.handle());
    pair.client().rma().attach(exposed.handle());
    List<MemorySegment> kept = new ArrayList<>(List.of(allocated.segment()));
    remote.view().ifPresent(kept::add);

    pair.client().close();
    pair.server().close();

    for (MemorySegment segment : kept) {
      try {
        segment.set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
        segment.toArray(ValueLayout.JAVA_BYTE);
      } catch (IllegalStateException e) {
        assertThat(e).hasMessageContaining("Already closed");
      }
    }
    assertSame(own, filled(SIZE, 5));
    assertSame(exposed.segment(), own);
    assertSame(registered.segment(), own);
  }

  @Test
  void allocatedMemoryThatWasClosedIsNotAccessedAnyMore() {
    Pair pair = connect();
    Rma rma = pair.client().rma();
    RegisteredMemory mine = pair.client().register(filled(SIZE, 4));
    ExposedMemory first = pair.server().rma().allocate(SIZE, BOTH);
    RemoteMemory remote = rma.attach(first.handle());
    first.close();
    first.close();
    ExposedMemory second = pair.server().rma().allocate(SIZE, BOTH);
    assertThatThrownBy(() -> rma.await(rma.write(mine, 0, remote, 0, SIZE), PATIENCE))
        .isInstanceOf(RemoteAccessException.class);
    assertThat(second.segment().mismatch(memory(SIZE))).isEqualTo(-1);
    second.close();
  }

  @Test
  void allocatingWithoutARightOrASizeIsRefused() {
    Rma rma = connect().server().rma();
    assertThatThrownBy(() -> rma.allocate(SIZE)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> rma.allocate(0, BOTH)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> rma.allocate(1L << 50, BOTH))
        .isInstanceOf(ResourceExhaustedException.class);
  }

  @Test
  void manyOperationsMayBeUnderWayAndTheirIdsCompleteInOrder() {
    Pair pair = connect();
    MemorySegment theirs = memory(SIZE);
    MemorySegment mine = filled(SIZE, 5);
    Rma rma = pair.client().rma();
    RemoteMemory remote = attach(pair, theirs, BOTH);
    RegisteredMemory local = pair.client().register(mine);

    long first = rma.write(local, 0, remote, 0, 1);
    long last = first;
    for (int i = 1; i < SIZE / 16; i++) {
      long id = rma.write(local, i * 16, remote, i * 16, 16);
      assertThat(id).isEqualTo(last + 1);
      last = id;
    }
    rma.await(last, PATIENCE);

    assertThat(rma.isComplete(first)).isTrue();
    assertSame(theirs.asSlice(16), mine.asSlice(16));
    assertThat(first).isEqualTo(1);
  }

  @Test
  void eachFormOfAnAccessDoesTheSame() {
    Pair pair = connect();
    MemorySegment theirs = memory(SIZE);
    MemorySegment mine = filled(SIZE, 8);
    MemorySegment back = memory(SIZE);
    Rma rma = pair.client().rma();
    RemoteMemory remote = attach(pair, theirs, BOTH);
    RegisteredMemory local = pair.client().register(mine);
    RegisteredMemory target = pair.client().register(back);
    List<LongSupplier> writes =
        List.of(
            () -> rma.write(local, 0, remote, 0, 1000),
            () -> rma.write(local, 1000, remote, 1000, 1000, PATIENCE),
            () -> rma.tryWrite(local, 2000, remote, 2000, 1000));
    List<LongSupplier> reads =
        List.of(
            () -> rma.read(target, 0, remote, 0, 1000),
            () -> rma.read(target, 1000, remote, 1000, 1000, PATIENCE),
            () -> rma.tryRead(target, 2000, remote, 2000, 1000));

    long id = 0;
    for (List<LongSupplier> each : List.of(writes, reads)) {
      for (LongSupplier access : each) {
        assertThat(started(access)).isEqualTo(++id);
      }
      rma.await(id, PATIENCE);
    }

    assertSame(theirs.asSlice(0, 3000), mine.asSlice(0, 3000));
    assertSame(back.asSlice(0, 3000), mine.asSlice(0, 3000));
    assertThat(theirs.get(ValueLayout.JAVA_LONG, 3000)).isZero();
  }

  private static long started(LongSupplier access) {
    long id = access.getAsLong();
    while (id == 0) {
      idle();
      id = access.getAsLong();
    }
    return id;
  }

  /** Many large accesses, so that most transports lack space at times. */
  @Test
  void aTriedAccessStartsOrHasNoEffect() {
    Pair pair = connect();
    MemorySegment theirs = memory(LARGE);
    MemorySegment mine = filled(LARGE, 9);
    MemorySegment back = memory(LARGE);
    Rma rma = pair.client().rma();
    RemoteMemory remote = attach(pair, theirs, BOTH);
    RegisteredMemory local = pair.client().register(mine);
    RegisteredMemory target = pair.client().register(back);
    int piece = 4 * KIB;
    long id = 0;

    for (int at = 0; at + piece <= LARGE; at += piece) {
      int offset = at;
      assertThat(started(() -> rma.tryWrite(local, offset, remote, offset, piece))).isEqualTo(++id);
    }
    rma.await(id, PATIENCE);
    for (int at = 0; at + piece <= LARGE; at += piece) {
      int offset = at;
      assertThat(started(() -> rma.tryRead(target, offset, remote, offset, piece))).isEqualTo(++id);
    }
    rma.await(id, PATIENCE);

    int length = LARGE / piece * piece;
    assertSame(theirs.asSlice(0, length), mine.asSlice(0, length));
    assertSame(back.asSlice(0, length), mine.asSlice(0, length));
  }

  @Test
  void anAccessOfAnyLengthTriesOrIsRefused() {
    Pair pair = connect();
    MemorySegment theirs = memory(LARGE);
    MemorySegment mine = filled(LARGE, 10);
    Rma rma = pair.client().rma();
    RemoteMemory remote = attach(pair, theirs, BOTH);
    RegisteredMemory local = pair.client().register(mine);
    long id;
    try {
      id = started(() -> rma.tryWrite(local, 0, remote, 0, LARGE));
    } catch (IllegalArgumentException e) {
      assertThat(e).hasMessageContaining("cannot start without waiting");
      assertThat(theirs.mismatch(memory(LARGE))).isEqualTo(-1);
      id = rma.write(local, 0, remote, 0, LARGE);
    }
    assertThat(id).isEqualTo(1);
    rma.await(id, PATIENCE);
    assertSame(theirs, mine);
  }

  /** Compares with a model: operations of any size at any offset, from both sides concurrently. */
  @Test
  void bothSidesMayAccessEachOthersMemoryAtTheSameTime() {
    Pair pair = connect();
    MemorySegment servers = filled(SIZE, 6);
    MemorySegment clients = filled(SIZE, 7);
    RemoteMemory atServer = attach(pair, servers, BOTH);
    RemoteMemory atClient =
        pair.server().rma().attach(pair.client().rma().expose(clients, BOTH).handle());

    Background<Boolean> other =
        inBackground("server", () -> accessAtRandom(pair.server(), atClient, clients, 8));
    accessAtRandom(pair.client(), atServer, servers, 9);
    other.result();
  }

  private void accessAtRandom(
      Connection connection, RemoteMemory remote, MemorySegment theirs, int seed) {
    SplittableRandom random = new SplittableRandom(seed);
    MemorySegment model = memory(SIZE).copyFrom(theirs);
    MemorySegment mine = filled(SIZE, seed);
    MemorySegment mineModel = memory(SIZE).copyFrom(mine);
    Rma rma = connection.rma();
    RegisteredMemory local = connection.register(mine);
    int operations = provider.messages(400);
    for (int i = 0; i < operations; i++) {
      int length = random.nextInt(random.nextBoolean() ? 200 : SIZE / 2);
      int from = random.nextInt(SIZE - length);
      int to = random.nextInt(SIZE - length);
      if (random.nextBoolean()) {
        rma.await(rma.write(local, from, remote, to, length), PATIENCE);
        MemorySegment.copy(mineModel, from, model, to, length);
      } else {
        rma.await(rma.read(local, from, remote, to, length), PATIENCE);
        MemorySegment.copy(model, to, mineModel, from, length);
      }
    }
    assertSame(mine, mineModel);
    assertSame(theirs, model);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0, 65537",
    "1, 0, 65536",
    "0, 1, 65536",
    "-1, 0, 1",
    "0, -1, 1",
    "0, 0, -1",
    "65536, 0, 1",
    "0, 65536, 1",
    "9223372036854775807, 0, 1",
    "0, 9223372036854775807, 1",
    "1, 1, 9223372036854775807"
  })
  void anOutOfBoundsOperationChangesNothing(long localOffset, long remoteOffset, long length) {
    Pair pair = connect();
    MemorySegment theirs = filled(SIZE, 1);
    MemorySegment mine = filled(SIZE, 2);
    Rma rma = pair.client().rma();
    RemoteMemory remote = attach(pair, theirs, BOTH);
    RegisteredMemory local = pair.client().register(mine);

    assertThatThrownBy(() -> rma.write(local, localOffset, remote, remoteOffset, length))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> rma.read(local, localOffset, remote, remoteOffset, length))
        .isInstanceOf(IndexOutOfBoundsException.class);

    rma.await(rma.write(local, 0, remote, 0, 0));
    assertSame(theirs, filled(SIZE, 1));
    assertSame(mine, filled(SIZE, 2));
  }

  @ParameterizedTest
  @EnumSource(names = {"READ", "WRITE"})
  void everyAccessNeedsItsRight(RmaRight right) {
    Pair pair = connect();
    MemorySegment theirs = filled(SIZE, 1);
    RemoteMemory remote = attach(pair, theirs, right);
    RegisteredMemory local = pair.client().register(filled(SIZE, 2));
    Rma rma = pair.client().rma();

    assertThat(remote.length()).isEqualTo(SIZE);
    for (RmaRight each : RmaRight.values()) {
      assertThat(remote.allows(each)).isEqualTo(each == right);
    }
    if (right == RmaRight.READ) {
      rma.await(rma.read(local, 0, remote, 0, SIZE));
      assertThatThrownBy(() -> rma.write(local, 0, remote, 0, 1))
          .isInstanceOf(RemoteAccessException.class)
          .hasMessageContaining("WRITE");
    } else {
      assertThatThrownBy(() -> rma.read(local, 0, remote, 0, 1))
          .isInstanceOf(RemoteAccessException.class)
          .hasMessageContaining("READ");
      rma.await(rma.write(local, 0, remote, 0, SIZE));
      assertSame(theirs, filled(SIZE, 2));
    }
    messagesPass(pair);
  }

  @Test
  void anInvalidHandleIsRefused() {
    Pair pair = connect();
    Rma rma = pair.client().rma();
    byte[] handle = pair.server().rma().expose(memory(SIZE), BOTH).handle().toBytes();

    assertThat(handle.length).isLessThanOrEqualTo(RmaHandle.MAX_BYTES);
    for (int i = 0; i < handle.length * Byte.SIZE; i++) {
      byte[] forged = handle.clone();
      forged[i / Byte.SIZE] ^= (byte) (1 << i % Byte.SIZE);
      assertThatThrownBy(() -> rma.attach(RmaHandle.of(forged)))
          .as("bit %d", i)
          .isInstanceOf(RemoteAccessException.class);
    }
    for (int length = 1; length < handle.length; length++) {
      byte[] part = Arrays.copyOf(handle, length);
      assertThatThrownBy(() -> rma.attach(RmaHandle.of(part)))
          .isInstanceOf(RemoteAccessException.class);
    }
    for (int length : new int[] {0, RmaHandle.MAX_BYTES + 1}) { // as a peer may send it
      assertThatThrownBy(() -> RmaHandle.of(new byte[length]))
          .isInstanceOf(RemoteAccessException.class);
    }
    rma.attach(RmaHandle.of(handle));
    messagesPass(pair);
  }

  @Test
  void aHandleFitsIntoTheHandshakeOfAnotherConnection() {
    Listener listener = listen();
    Pair pair = connectTo(listener, patientOptions().build());
    ExposedMemory exposed = pair.server().rma().expose(filled(SIZE, 3), BOTH);
    byte[] handle = exposed.handle().toBytes();

    ConnectionOptions carrying = patientOptions().payload(handle).build();
    Background<Connection> connecting = connectInBackground(listener, carrying);
    ConnectionRequest request = listener.nextRequest(PATIENCE);
    byte[] received = request.payload();
    closeAtEnd(request.accept(received));
    byte[] answered = connecting.result().peerPayload();
    Background<Connection> rejected = connectInBackground(listener, carrying);
    listener.nextRequest(PATIENCE).reject(answered);
    ConnectionRejectedException rejection = (ConnectionRejectedException) rejected.failure();

    RemoteMemory remote = pair.client().rma().attach(RmaHandle.of(rejection.payload()));
    assertThat(remote.length()).isEqualTo(SIZE);
  }

  @Test
  void aHandleIsValidOnItsConnectionOnly() {
    Pair pair = connect();
    Pair other = connect();
    ExposedMemory exposed = pair.server().rma().expose(memory(SIZE), BOTH);
    RegisteredMemory local = pair.client().register(memory(SIZE));
    RegisteredMemory others = other.client().register(memory(SIZE));

    assertThatThrownBy(() -> other.client().rma().attach(exposed.handle()))
        .isInstanceOf(RemoteAccessException.class);
    assertThatThrownBy(() -> pair.server().rma().attach(exposed.handle()))
        .isInstanceOf(RemoteAccessException.class);
    RemoteMemory remote = pair.client().rma().attach(exposed.handle());
    assertThatThrownBy(() -> other.client().rma().write(others, 0, remote, 0, 1))
        .isInstanceOf(IllegalArgumentException.class);
    pair.client().rma().await(pair.client().rma().write(local, 0, remote, 0, 1));
    pair.client().rma().await(pair.client().rma().write(others, 0, remote, 0, 1));
  }

  @Test
  void localMemoryCanBeUsedByEveryConnectionAndOutlivesTheOneThatItWasRegisteredWith() {
    Pair pair = connect();
    Pair other = connect();
    MemorySegment mine = filled(SIZE, 6);
    MemorySegment theirs = memory(SIZE);
    Rma rma = other.client().rma();
    RemoteMemory remote = rma.attach(other.server().rma().expose(theirs, BOTH).handle());
    RegisteredMemory local = pair.client().register(mine);

    rma.await(rma.write(local, 0, remote, 0, SIZE), PATIENCE);
    assertSame(theirs, filled(SIZE, 6));
    pair.client().close();
    theirs.copyFrom(filled(SIZE, 7));
    rma.read(local, 0, remote, 0, SIZE);
    local.close();

    assertSame(mine, filled(SIZE, 7));
    assertThatThrownBy(() -> rma.read(local, 0, remote, 0, SIZE))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void revokedMemoryIsNoLongerAccessed() {
    Pair pair = connect();
    MemorySegment theirs = filled(SIZE, 1);
    ExposedMemory exposed = pair.server().rma().expose(theirs, BOTH);
    Rma rma = pair.client().rma();
    RemoteMemory remote = rma.attach(exposed.handle());
    RegisteredMemory local = pair.client().register(filled(SIZE, 2));
    exposed.close();
    exposed.close();
    ExposedMemory next = pair.server().rma().expose(theirs, BOTH);

    assertThatThrownBy(() -> rma.attach(exposed.handle()))
        .isInstanceOf(RemoteAccessException.class);
    assertThatThrownBy(() -> rma.await(rma.write(local, 0, remote, 0, SIZE)))
        .isInstanceOf(RemoteAccessException.class);
    assertThatThrownBy(() -> rma.await(rma.read(local, 0, remote, 0, 1)))
        .isInstanceOf(RemoteAccessException.class);
    assertThatThrownBy(() -> rma.await(rma.write(local, 0, remote, 0, 0)))
        .isInstanceOf(RemoteAccessException.class);
    assertSame(theirs, filled(SIZE, 1));
    rma.await(rma.write(local, 0, rma.attach(next.handle()), 0, SIZE));
    assertSame(theirs, filled(SIZE, 2));
    messagesPass(pair);
  }

  /**
   * A peer that writes continuously must not write to memory after its owner has revoked the
   * access.
   */
  @Test
  void nothingIsWrittenAfterARevocationDuringAWrite() {
    Pair pair = connect();
    for (int round = 0; round < 20; round++) {
      MemorySegment theirs = memory(MIB);
      ExposedMemory exposed = pair.server().rma().expose(theirs, RmaRight.WRITE);
      Background<Boolean> writing =
          inBackground(
              "writer",
              () -> {
                RemoteMemory remote = pair.client().rma().attach(exposed.handle());
                try (RegisteredMemory local = pair.client().register(filled(MIB, 1))) {
                  assertThatThrownBy(() -> writeAgainAndAgain(pair, local, remote, MIB))
                      .isInstanceOf(RemoteAccessException.class);
                }
              });
      awaitWritten(theirs);

      exposed.close();
      theirs.fill((byte) 0);

      writing.result();
      assertThat(theirs.mismatch(memory(MIB))).isEqualTo(-1);
    }
  }

  @Test
  void manyPiecesMayBeExposedButNotAnyNumber() {
    Pair pair = connect();
    MemorySegment theirs = memory(SIZE);
    List<ExposedMemory> exposed = new ArrayList<>();
    assertThatThrownBy(
            () -> {
              while (true) {
                exposed.add(pair.server().rma().expose(theirs.asSlice(exposed.size(), 1), BOTH));
              }
            })
        .isInstanceOf(ResourceExhaustedException.class);
    assertThat(exposed.size()).isGreaterThanOrEqualTo(100);

    Rma rma = pair.client().rma();
    RegisteredMemory local = pair.client().register(filled(SIZE, 5));
    for (int i = 0; i < exposed.size(); i++) {
      rma.write(local, i, rma.attach(exposed.get(i).handle()), 0, 1);
    }
    rma.await(exposed.size());
    int count = exposed.size();
    assertSame(theirs.asSlice(0, count), filled(SIZE, 5).asSlice(0, count));
    exposed.forEach(ExposedMemory::close);
    for (int i = 0; i < 3 * count; i++) {
      pair.server().rma().expose(theirs, BOTH).close();
    }
  }

  @Test
  void aMessageThatIsSentWithAWriteArrivesAfterIt() {
    Pair pair = connect();
    MemorySegment theirs = memory(SIZE);
    RemoteMemory remote = attach(pair, theirs, RmaRight.WRITE);
    int rounds = provider.messages(200);
    Background<Boolean> receiving =
        inBackground(
            "receiver",
            () -> {
              SplittableRandom random = new SplittableRandom(1);
              for (int i = 1; i <= rounds; i++) {
                int length = random.nextInt(SIZE);
                try (ReceiveRegion message = pair.server().receiver().receive(PATIENCE)) {
                  assertThat(message.segment().get(ValueLayout.JAVA_INT_UNALIGNED, 0)).isEqualTo(i);
                }
                MemorySegment expected = filled(length, i);
                assertSame(theirs.asSlice(0, length), expected);
                pair.server().sender().send(MemorySegment.ofArray(new byte[0]));
              }
            });

    MemorySegment mine = memory(SIZE);
    RegisteredMemory local = pair.client().register(mine);
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 1; i <= rounds; i++) {
      int length = random.nextInt(SIZE);
      fill(mine.asSlice(0, length), i);
      MemorySegment message = MemorySegment.ofArray(new byte[Integer.BYTES]);
      message.set(ValueLayout.JAVA_INT_UNALIGNED, 0, i);
      pair.client().rma().writeAndSend(local, 0, remote, 0, length, message);
      pair.client().receiver().receive(PATIENCE).close(); // the peer has seen the write
    }
    receiving.result();
  }

  @Test
  void aMessageThatIsSentWithAWriteArrivesAfterAllEarlierWrites() {
    Pair pair = connect();
    MemorySegment theirs = memory(SIZE);
    RemoteMemory remote = attach(pair, theirs, RmaRight.WRITE);
    MemorySegment mine = memory(SIZE);
    RegisteredMemory local = pair.client().register(mine);
    int block = SIZE / 4;
    for (int round = 1; round <= provider.messages(50); round++) {
      fill(mine, round);
      for (int i = 0; i < 3; i++) {
        pair.client().rma().write(local, i * block, remote, i * block, block);
      }
      MemorySegment message = memory(1);
      pair.client().rma().writeAndSend(local, 3 * block, remote, 3 * block, block, message);
      pair.server().receiver().receive(PATIENCE).close();
      assertSame(theirs.asSlice(0, 4 * block), mine.asSlice(0, 4 * block));
    }
  }

  @Test
  void aMessageThatIsTooLongIsRefusedBeforeAnythingIsWritten() {
    Pair pair = connect();
    MemorySegment theirs = filled(SIZE, 1);
    RemoteMemory remote = attach(pair, theirs, RmaRight.WRITE);
    RegisteredMemory local = pair.client().register(filled(SIZE, 2));
    int tooLong = pair.client().sender().maxMessage() + 1;

    assertThatThrownBy(
            () -> pair.client().rma().writeAndSend(local, 0, remote, 0, SIZE, memory(tooLong)))
        .isInstanceOf(MessageTooLongException.class);
    assertSame(theirs, filled(SIZE, 1));
  }

  @Test
  void theEndOfTheMessagesOfBothSidesDoesNotEndAccess() {
    Pair pair = connect();
    MemorySegment theirs = filled(SIZE, 1);
    RemoteMemory remote = attach(pair, theirs, BOTH);
    MemorySegment mine = filled(SIZE, 2);
    RegisteredMemory local = pair.client().register(mine);
    pair.client().sender().close();
    pair.server().sender().close();
    assertEndOfStream(() -> pair.server().receiver().receive(PATIENCE));
    assertEndOfStream(() -> pair.client().receiver().receive(PATIENCE));
    Rma rma = pair.client().rma();

    assertThatThrownBy(() -> rma.writeAndSend(local, 0, remote, 0, SIZE, memory(1)))
        .isInstanceOf(IllegalStateException.class);
    assertSame(theirs, filled(SIZE, 1)); // nothing was written
    rma.await(rma.write(local, 0, remote, 0, SIZE), PATIENCE);
    assertSame(theirs, filled(SIZE, 2));
    theirs.fill((byte) 3);
    rma.await(rma.read(local, 0, remote, 0, SIZE), PATIENCE);
    assertSame(mine, theirs);
    MemorySegment another = filled(SIZE, 4);
    assertThat(attach(pair, another, BOTH)).isNotNull(); // and exposing more
  }

  @ParameterizedTest
  @CsvSource({"8", "4096"})
  void accessAllocatesNothing(int length) {
    Pair pair = connect();
    Rma rma = pair.client().rma();
    RemoteMemory remote = attach(pair, memory(SIZE), BOTH);
    RegisteredMemory local = pair.client().register(memory(SIZE));
    int operations = provider.messages(5_000);
    Runnable round =
        () -> {
          for (int i = 0; i < operations; i++) {
            rma.await(rma.write(local, i % 7, remote, i % 5, length));
            rma.await(rma.read(local, i % 3, remote, i % 11, length));
          }
        };
    round.run();
    AllocationContract.assertAllocatesNothing(round);
  }

  @Test
  void aFenceHarmsNothing() {
    Pair pair = connect();
    MemorySegment theirs = memory(SIZE);
    MemorySegment mine = filled(SIZE, 1);
    MemorySegment back = memory(SIZE);
    Rma rma = pair.client().rma();
    RemoteMemory remote = attach(pair, theirs, BOTH);
    RegisteredMemory local = pair.client().register(mine);
    RegisteredMemory target = pair.client().register(back);
    for (int i = 0; i < 50; i++) {
      fill(mine, i);
      rma.write(local, 0, remote, 0, SIZE);
      rma.fence();
      rma.await(rma.read(target, 0, remote, 0, SIZE), PATIENCE);
      assertSame(back, mine);
    }
  }

  @Test
  void wrongUseIsRefused() {
    Pair pair = connect();
    Rma rma = pair.client().rma();
    RemoteMemory remote = attach(pair, memory(SIZE), BOTH);
    RegisteredMemory local = pair.client().register(memory(SIZE));
    RegisteredMemory readOnly = pair.client().register(memory(SIZE).asReadOnly());

    assertThatThrownBy(() -> rma.expose(MemorySegment.ofArray(new byte[8]), BOTH))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> rma.expose(memory(8))).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> rma.expose(memory(8).asReadOnly(), BOTH))
        .isInstanceOf(IllegalArgumentException.class);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment confined = arena.allocate(8);
      assertThatThrownBy(() -> rma.expose(confined, BOTH))
          .isInstanceOf(IllegalArgumentException.class);
    }
    MemorySegment freed;
    try (Arena arena = Arena.ofShared()) {
      freed = arena.allocate(8);
    }
    assertThatThrownBy(() -> rma.expose(freed, BOTH)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> pair.client().register(freed))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> rma.read(readOnly, 0, remote, 0, 1))
        .isInstanceOf(IllegalArgumentException.class);
    rma.await(rma.write(readOnly, 0, remote, 0, 1));
    assertThatThrownBy(() -> rma.isComplete(0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> rma.await(2)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> rma.await(2, Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class);
    local.close();
    assertThatThrownBy(() -> rma.write(local, 0, remote, 0, 1))
        .isInstanceOf(IllegalStateException.class);
    messagesPass(pair);
  }

  @Test
  void aConnectionThatEndsEndsItsRemoteMemoryAccess() {
    Pair pair = connect();
    Rma rma = pair.client().rma();
    ExposedMemory exposed = pair.server().rma().expose(memory(SIZE), BOTH);
    RemoteMemory remote = rma.attach(exposed.handle());
    RegisteredMemory local = pair.client().register(memory(SIZE));
    RegisteredMemory readOnly = pair.client().register(memory(SIZE).asReadOnly());
    long done = rma.write(local, 0, remote, 0, SIZE);
    rma.await(done);

    pair.server().close();
    eventually("the close is detected", () -> !isOpen(pair.client()));
    assertThatThrownBy(() -> rma.write(local, 0, remote, 0, 1))
        .isInstanceOfSatisfying(
            ConnectionClosedException.class, e -> assertThat(e.closedByPeer()).isTrue());
    exposed.close();
    pair.client().close();

    assertThatThrownBy(() -> rma.read(local, 0, remote, 0, 1))
        .isInstanceOf(ConnectionClosedException.class);
    assertThatThrownBy(() -> rma.read(readOnly, 0, remote, 0, 1))
        .isInstanceOf(ConnectionClosedException.class);
    assertThatThrownBy(() -> rma.attach(exposed.handle()))
        .isInstanceOf(ConnectionClosedException.class);
    assertThatThrownBy(() -> rma.expose(memory(8), BOTH))
        .isInstanceOf(ConnectionClosedException.class);
    assertThatThrownBy(rma::fence).isInstanceOf(ConnectionClosedException.class);
  }

  /** Another thread may close the source of a write; the connection remains usable. */
  @Test
  void closingRegisteredMemoryDuringATransferEndsOnlyTheTransfer() {
    Pair pair = connect();
    MemorySegment theirs = memory(LARGE);
    RemoteMemory remote = attach(pair, theirs, RmaRight.WRITE);
    for (int round = 0; round < 5; round++) {
      theirs.fill((byte) 0);
      RegisteredMemory local = pair.client().register(filled(LARGE, 1));
      Background<Boolean> writing =
          inBackground(
              "writer",
              () -> {
                assertThatThrownBy(() -> writeAgainAndAgain(pair, local, remote, LARGE))
                    .isInstanceOf(IllegalStateException.class);
              });
      awaitWritten(theirs);

      local.close();

      writing.result();
    }
    messagesPass(pair);
  }

  @Test
  void accessesThatAreUnderWayFinishBeforeARegistrationEnds() {
    Pair pair = connect();
    Rma rma = pair.client().rma();
    MemorySegment theirs = filled(MIB, 3);
    RemoteMemory remote = attach(pair, theirs, BOTH);
    for (int round = 0; round < 10; round++) {
      try (Arena arena = Arena.ofShared()) {
        MemorySegment mine = arena.allocate(MIB);
        RegisteredMemory local = pair.client().register(mine);
        long id = rma.read(local, 0, remote, 0, MIB);

        local.close();

        assertSame(mine, theirs);
        mine.fill((byte) 0x55);
        rma.await(id);
        assertThat(mine.mismatch(memory(MIB).fill((byte) 0x55))).isEqualTo(-1);
      }
    }
    messagesPass(pair);
  }

  @Test
  void memoryThatIsFreedWhileRegisteredIsEitherKeptOrNotAccessedAnyMore() {
    Pair pair = connect();
    Rma rma = pair.client().rma();
    MemorySegment theirs = filled(SIZE, 3);
    RemoteMemory remote = attach(pair, theirs, BOTH);
    Arena arena = Arena.ofShared();
    RegisteredMemory local = pair.client().register(arena.allocate(SIZE));

    try {
      arena.close();
    } catch (IllegalStateException e) { // the registration keeps it alive
      rma.await(rma.read(local, 0, remote, 0, SIZE));
      assertSame(local.segment(), theirs);
      local.close();
      arena.close();
      return;
    }

    for (int i = 0; i < 100; i++) { // more than there is space for, if each attempt leaked some
      assertThatThrownBy(() -> rma.read(local, 0, remote, 0, SIZE))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> rma.write(local, 0, remote, 0, SIZE))
          .isInstanceOf(IllegalStateException.class);
    }
    assertSame(theirs, filled(SIZE, 3));
    local.close();
    messagesPass(pair);
  }

  private static boolean isOpen(Connection connection) {
    return connection.state() == dev.ferrule.ConnectionState.OPEN;
  }

  /** Either side closes while the other one writes. */
  @Test
  void closingDuringATransferHangsNeitherSide() {
    for (int round = 0; round < 10; round++) {
      Pair pair = connect();
      MemorySegment theirs = memory(LARGE);
      RemoteMemory remote = attach(pair, theirs, RmaRight.WRITE);
      RegisteredMemory local = pair.client().register(filled(LARGE, 1));
      Background<Boolean> writing =
          inBackground(
              "writer",
              () -> {
                assertThatThrownBy(() -> writeAgainAndAgain(pair, local, remote, LARGE))
                    .isInstanceOfAny(ConnectionClosedException.class, IllegalStateException.class);
              });
      awaitWritten(theirs);

      (round % 2 == 0 ? pair.server() : pair.client()).close();

      writing.result();
    }
  }

  /** Waits until a transfer of the result of {@link #filled} has begun. */
  private static void awaitWritten(MemorySegment theirs) {
    eventually("something was written", () -> theirs.get(ValueLayout.JAVA_BYTE, 1) != 0);
  }

  /** Writes repeatedly until a write fails. */
  private static void writeAgainAndAgain(
      Pair pair, RegisteredMemory local, RemoteMemory remote, long length) {
    Rma rma = pair.client().rma();
    while (true) {
      rma.await(rma.write(local, 0, remote, 0, length));
    }
  }

  private static void messagesPass(Pair pair) {
    pair.client().sender().send(MemorySegment.ofArray(new byte[] {1, 2, 3}));
    try (ReceiveRegion message = pair.server().receiver().receive(PATIENCE)) {
      assertThat(message.length()).isEqualTo(3);
    }
  }
}
