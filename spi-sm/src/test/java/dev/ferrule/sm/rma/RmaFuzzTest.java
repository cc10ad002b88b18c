// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.RmaRight;
import dev.ferrule.posix.Credentials;
import dev.ferrule.sm.ring.CorruptRingException;
import dev.ferrule.support.Fuzzer;
import dev.ferrule.support.RmaKey;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The words of the memory for remote memory access, each of which the peer may write at any time.
 * An input is a list of steps of 16 bytes: stores to the peer's memory, and what this side does.
 */
class RmaFuzzTest {

  // A step: 4 bytes the action, 4 bytes its argument, 8 bytes a value.
  private static final int STEP = 16;
  private static final int STORE_INT = 0;
  private static final int STORE_LONG = 1;
  private static final int BUFFER_INT = 2;
  private static final int BUFFER_LONG = 3;
  private static final int SERVE = 4;
  private static final int ATTACH = 5;
  private static final int SUBMIT = 6;
  private static final int REAP = 7;
  private static final int ACTIONS = 8;

  private static final int LINES = 64;
  private static final int SIZE = 4096;
  private static final long ALLOCATABLE = 16 * RmaLayout.PAGE;
  private static final byte UNTOUCHED = 0x5a;
  private static final int PEERS_REGION = 3;
  private static final long PEERS_GENERATION = 17;

  private final Arena arena = Arena.ofShared();
  private final RmaArea own = RmaAreas.allocate(arena, LINES * RmaLayout.LINE);
  private final MemorySegment peersArea = arena.allocate(RmaLayout.SIZE, RmaLayout.LINE);
  private final MemorySegment fenced = arena.allocate(3 * SIZE, RmaLayout.LINE);
  private final MemorySegment buffer = fenced.asSlice(SIZE, LINES * RmaLayout.LINE);
  private final MemorySegment allocatable = arena.allocate(ALLOCATABLE, RmaLayout.PAGE);
  private final RmaArea peer =
      new RmaArea(
          peersArea.address(), buffer.address(), buffer.byteSize(), allocatable, Credentials.own());
  private final MemorySegment exposed = arena.allocate(3 * SIZE, RmaLayout.LINE);
  private final RegionTable regions = new RegionTable(own, peer, null);
  private final RmaKey key =
      regions.add(exposed.asSlice(SIZE, SIZE), EnumSet.allOf(RmaRight.class)).key();
  private final MemorySegment local = arena.allocate(SIZE);
  private final MemorySegment fence = arena.allocate(SIZE).fill(UNTOUCHED);

  private static byte[] steps(long... numbers) {
    ByteBuffer bytes = ByteBuffer.allocate(numbers.length / 3 * STEP);
    bytes.order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < numbers.length; i += 3) {
      bytes.putInt((int) numbers[i]).putInt((int) numbers[i + 1]).putLong(numbers[i + 2]);
    }
    return bytes.array();
  }

  /** Returns the submission of a fragment. */
  private byte[] fragment(int operation, int line, int length, long offset) {
    long at = (long) line * RmaLayout.LINE;
    return steps(
        STORE_INT,
        RmaLayout.BUFFER_LINES,
        LINES,
        BUFFER_INT,
        at + RmaLayout.FRAGMENT_OPERATION,
        operation,
        BUFFER_INT,
        at + RmaLayout.FRAGMENT_REGION,
        key.id(),
        BUFFER_INT,
        at + RmaLayout.FRAGMENT_LENGTH,
        length,
        BUFFER_LONG,
        at + RmaLayout.FRAGMENT_GENERATION,
        key.generation(),
        BUFFER_LONG,
        at + RmaLayout.FRAGMENT_OFFSET,
        offset,
        STORE_INT,
        RmaLayout.submission(0),
        line,
        STORE_LONG,
        RmaLayout.SUBMITTED,
        1,
        SERVE,
        0,
        0);
  }

  /** Returns the exposure of a peer's region, and its use. */
  private static byte[] region(long place, long length) {
    long entry = RmaLayout.region(PEERS_REGION);
    return steps(
        STORE_LONG,
        entry + RmaLayout.REGION_LENGTH,
        length,
        STORE_INT,
        entry + RmaLayout.REGION_RIGHTS,
        7,
        STORE_LONG,
        entry + RmaLayout.REGION_PLACE,
        place + 1,
        STORE_LONG,
        entry + RmaLayout.REGION_ADDRESS,
        1 << 20,
        STORE_LONG,
        entry + RmaLayout.REGION_GENERATION,
        PEERS_GENERATION,
        ATTACH,
        PEERS_REGION,
        length,
        SUBMIT,
        0,
        500,
        STORE_LONG,
        RmaLayout.HANDLED,
        1,
        REAP,
        0,
        0,
        SUBMIT,
        1,
        100,
        REAP,
        0,
        0);
  }

  private List<byte[]> samples() {
    return List.of(
        fragment(RmaLayout.WRITE, 0, 100, SIZE - 100),
        fragment(RmaLayout.READ, 5, 3_000, 8),
        fragment(RmaLayout.READ, LINES - 2, RmaLayout.LINE, 0),
        fragment(RmaLayout.FETCH_AND_ADD, LINES - 2, RmaLayout.ATOMIC_PAYLOAD, SIZE - 8),
        fragment(RmaLayout.COMPARE_AND_SWAP, 1, RmaLayout.ATOMIC_PAYLOAD, 0),
        region(RmaLayout.PAGE, 1_000),
        region(-1, SIZE),
        region(ALLOCATABLE - SIZE, SIZE));
  }

  @Test
  void noWordOfThePeersLeadsOutOfTheMemoryThatItMayUse() {
    try (arena) {
      new Fuzzer("words of remote memory access in sm", 5_000)
          .permits(CorruptRingException.class)
          .bytes(
              samples(),
              bytes -> {
                prepare();
                boolean isUsed = new Run().all(bytes);
                assertUntouched(fenced);
                assertUntouched(exposed);
                return isUsed;
              });
    }
  }

  private void prepare() {
    peersArea.fill((byte) 0);
    fenced.fill(UNTOUCHED);
    exposed.fill(UNTOUCHED);
    exposed.asSlice(SIZE, SIZE).fill((byte) 1); // which differs from what is around the buffer
    buffer.fill((byte) 0);
    MemorySegment.ofAddress(own.address()).reinterpret(RmaLayout.REGIONS).fill((byte) 0);
  }

  private void assertUntouched(MemorySegment around) {
    assertThat(around.asSlice(0, SIZE).mismatch(fence)).as("the first changed byte").isNegative();
    assertThat(around.asSlice(2 * SIZE).mismatch(fence)).as("the first changed byte").isNegative();
  }

  /** The sides of a new connection. */
  private final class Run {

    private final FragmentServer server = new FragmentServer(own, peer, regions, () -> {});
    private final Fragments fragments = new Fragments(own, peer, () -> {});
    private final RemoteTable table = new RemoteTable(own, peer);
    private final Transfer transfer = new Transfer();
    private RemoteRegion region;
    private boolean isUsed;

    boolean all(byte[] bytes) {
      ByteBuffer steps = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
      while (steps.remaining() >= STEP) {
        step(Math.floorMod(steps.getInt(), ACTIONS), steps.getInt(), steps.getLong());
      }
      return isUsed;
    }

    private void step(int action, int argument, long value) {
      switch (action) {
        case STORE_INT -> store(peersArea, argument, (int) value);
        case STORE_LONG -> store(peersArea, argument, value);
        case BUFFER_INT -> store(buffer, argument, (int) value);
        case BUFFER_LONG -> store(buffer, argument, value);
        case SERVE -> isUsed |= server.serve();
        case ATTACH -> attach(argument, value);
        case SUBMIT -> submit((argument & 1) != 0, value);
        default -> fragments.reap((operation, status, isLast) -> isUsed = true);
      }
    }

    private void store(MemorySegment memory, int argument, int value) {
      memory.set(ValueLayout.JAVA_INT, Math.floorMod(argument, memory.byteSize()) & -4L, value);
    }

    private void store(MemorySegment memory, int argument, long value) {
      memory.set(ValueLayout.JAVA_LONG, Math.floorMod(argument, memory.byteSize()) & -8L, value);
    }

    /** The handle is what the peer's program passes, and is decoded before. */
    private void attach(int id, long length) {
      if (id < 0 || length < 0) {
        return;
      }
      RemoteRegion found =
          table.find(new RmaKey(id, PEERS_GENERATION, length, EnumSet.allOf(RmaRight.class), 0));
      if (found == null) {
        return;
      }
      region = found;
      isUsed = true;
      found
          .view()
          .ifPresent(view -> {
            assertThat(view.byteSize()).isEqualTo(length);
            assertThat(view.address())
                .isBetween(allocatable.address(), allocatable.address() + ALLOCATABLE - length);
          });
      if (table.acquire(found)) {
        table.release();
      }
    }

    private void submit(boolean isWrite, long length) {
      if (region == null) {
        return;
      }
      transfer.begin(isWrite, local, 0, region, 0, Math.floorMod(length, SIZE + 1));
      boolean ignored = fragments.trySubmit(transfer, 1);
    }
  }
}
