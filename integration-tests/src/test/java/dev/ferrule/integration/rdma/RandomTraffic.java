// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;

/**
 * Messages of random lengths in one direction, sent in all ways, held for random times and freed in
 * random order. Each is checked byte by byte on arrival, and again before it is freed.
 */
final class RandomTraffic {

  private static final int SHIFTS = 4099;

  private final int count;
  private final int longest;
  private final long seed;
  private final AtomicIntegerArray lengths; // of each message, set before it is sent
  private final MemorySegment pattern;

  /**
   * Creates a plan.
   *
   * @param count the number of messages
   * @param longest the maximum length
   * @param seed the random seed
   */
  RandomTraffic(int count, int longest, long seed) {
    this.count = count;
    this.longest = longest;
    this.seed = seed;
    this.lengths = new AtomicIntegerArray(count);
    byte[] bytes = new byte[longest + SHIFTS];
    new Random(seed).nextBytes(bytes);
    this.pattern = MemorySegment.ofArray(bytes);
  }

  /** Returns the content of a message, which differs from that of its neighbours. */
  private MemorySegment content(int number) {
    return pattern.asSlice(number * 61L % SHIFTS, lengths.get(number));
  }

  private int length(Random random) {
    return switch (random.nextInt(8)) {
      case 0 -> 0;
      case 1 -> longest;
      case 2 -> longest - random.nextInt(9);
      case 3 -> 1 + random.nextInt(16);
      case 4 -> random.nextInt(longest + 1);
      default -> random.nextInt(longest / 8 + 1);
    };
  }

  private static void sometimesPause(Random random) {
    if (random.nextInt(25) == 0) {
      Task.pause(Duration.ofMillis(random.nextInt(3)));
    }
  }

  Task<Void> send(Sender sender) {
    return Task.start(() -> {
      Random random = new Random(seed + 1);
      int next = 0;
      while (next < count) {
        sometimesPause(random);
        if (random.nextInt(3) == 0) {
          lengths.set(next, length(random));
          sender.send(content(next));
          next++;
        } else {
          next = sendClaims(sender, claim(sender, random), next, random);
        }
      }
      return null;
    });
  }

  /** Claims a region, and as many more as there are buffers for, up to some number. */
  private List<SendRegion> claim(Sender sender, Random random) {
    List<SendRegion> claimed = new ArrayList<>();
    SendRegion region = sender.claim(length(random), Task.PATIENCE);
    for (int more = random.nextInt(4); region != null; more--) {
      claimed.add(region);
      region = more > 0 ? sender.tryClaim(length(random)) : null;
    }
    return claimed;
  }

  /** Sends the claims in any order, some shorter than claimed, and aborts others. */
  private int sendClaims(Sender sender, List<SendRegion> claimed, int first, Random random) {
    int next = first;
    Collections.shuffle(claimed, random);
    boolean batched = random.nextBoolean();
    for (SendRegion region : claimed) {
      if (next == count || random.nextInt(5) == 0) {
        region.abort();
        continue;
      }
      int length = random.nextInt(3) == 0 ? random.nextInt(region.length() + 1) : region.length();
      lengths.set(next, length);
      MemorySegment.copy(content(next), 0, region.buffer(), region.offset(), length);
      if (batched) {
        region.stage(length);
      } else {
        region.commit(length);
      }
      next++;
    }
    sender.flush();
    return next;
  }

  private record Held(ReceiveRegion region, int number) {}

  Task<Void> receive(Receiver receiver) {
    return Task.start(() -> {
      Random random = new Random(seed + 2);
      List<Held> held = new ArrayList<>();
      int next = 0;
      while (next < count || !held.isEmpty()) {
        sometimesPause(random);
        ReceiveRegion message =
            next == count
                ? null
                : held.isEmpty() ? receiver.receive(Task.PATIENCE) : receiveSoon(receiver, random);
        if (message != null) {
          check(message, next);
          held.add(new Held(message, next));
          next++;
        }
        if (!held.isEmpty() && (message == null || random.nextInt(3) == 0)) {
          Held freed = held.remove(random.nextInt(held.size()));
          check(freed.region(), freed.number()); // not overwritten
          freed.region().close();
        }
      }
      return null;
    });
  }

  /** There may be no buffer for the next message before one is freed. */
  private static @Nullable ReceiveRegion receiveSoon(Receiver receiver, Random random) {
    try {
      return receiver.receive(Duration.ofMillis(random.nextInt(3)));
    } catch (OperationTimeoutException e) {
      return null;
    } catch (IllegalStateException e) {
      assertThat(e).hasMessageContaining("held by this program");
      return null;
    }
  }

  private void check(ReceiveRegion message, int number) {
    MemorySegment wanted = content(number);
    long mismatch = message.segment().mismatch(wanted);
    if (mismatch != -1) {
      throw new AssertionError(
          "message %d of %d bytes arrived with %d bytes, and differs from byte %d on"
              .formatted(number, wanted.byteSize(), message.length(), mismatch));
    }
  }
}
