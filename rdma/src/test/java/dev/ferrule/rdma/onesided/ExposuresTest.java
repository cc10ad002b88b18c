// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.onesided;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.PeerLostException;
import dev.ferrule.RmaRight;
import dev.ferrule.rdma.fake.RecordingCallbacks;
import dev.ferrule.rdma.fake.ScriptedDevice;
import dev.ferrule.rdma.queue.OneSidedOperations;
import dev.ferrule.rdma.queue.TestQueues;
import dev.ferrule.support.RmaKey;
import dev.ferrule.verbs.AccessFlags;
import dev.ferrule.verbs.CompletionQueue;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The tables of two sides, with a fake device that executes WRITEs and READs immediately. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ExposuresTest {

  private static final Set<RmaRight> BOTH = Set.of(RmaRight.READ, RmaRight.WRITE);
  private static final int PEER_TABLE = 0x1234;

  private final ScriptedDevice device = new ScriptedDevice();
  private final CompletionQueue completions = device.completionQueue();
  private final OneSidedOperations queue =
      TestQueues.sendQueue(device, completions, new RecordingCallbacks()).accesses();
  private final AccessTable own = new AccessTable(device.domain(), device.arena());
  private final AccessTable peers = new AccessTable(device.domain(), device.arena());
  private final Connection life = new Connection();
  private final Exposures exposures = new Exposures(device.domain(), own, PEER_TABLE, queue, life);
  private final MemorySegment memory = Arena.ofAuto().allocate(1000);

  /** A connection that may end. */
  private static final class Connection implements Exposures.Life {
    private volatile @Nullable String end;
    private volatile Duration patience = Duration.ofMinutes(1);
    private volatile Runnable onLost = () -> {};

    @Override
    public void checkOpen() {
      String reason = end;
      if (reason != null) {
        throw new PeerLostException(URI.create("test://peer"), reason, null);
      }
    }

    @Override
    public long releaseTimeoutNanos() {
      return patience.toNanos();
    }

    @Override
    public void lost(String reason) {
      end = reason;
      onLost.run();
    }
  }

  @BeforeEach
  void executeRequests() {
    device.onSend =
        send -> {
          assertThat(send.remoteKey()).isEqualTo(PEER_TABLE);
          assertThat(send.key()).isEqualTo(ScriptedDevice.LOCAL_KEY);
          MemorySegment here = own.memory().asSlice(send.address(), send.length());
          MemorySegment there = peers.memory().asSlice(send.remoteAddress(), send.length());
          if (send.operation() == ScriptedDevice.RDMA_WRITE) {
            there.copyFrom(here);
          } else {
            here.copyFrom(there);
          }
          device.sent(completions, send.id());
        };
  }

  private Exposure expose() {
    Exposure exposure = exposures.add(memory, BOTH);
    assertThat(exposure).isNotNull();
    return exposure;
  }

  @Test
  void thePeerFindsExposedMemoryOnlyByItsHandle() {
    Exposure exposure = expose();
    RmaKey key = exposure.key();

    PeerMemory found = peers.find(key);

    assertThat(found).isNotNull();
    assertThat(found.length()).isEqualTo(memory.byteSize());
    assertThat(found.remoteKey()).isEqualTo(ScriptedDevice.REMOTE_KEY);
    assertThat(found.first()).isEqualTo((int) (memory.address() % 65_536));
    assertThat(found.belongsTo(peers)).isTrue();
    assertThat(peers.find(changed(key, key.id() + 1, key.generation(), key.length()))).isNull();
    assertThat(peers.find(changed(key, key.id(), key.generation() + 1, key.length()))).isNull();
    assertThat(peers.find(changed(key, key.id(), key.generation(), key.length() + 1))).isNull();
    assertThat(peers.find(changed(key, key.id(), 0, key.length()))).isNull();
    assertThat(peers.find(changed(key, 5, 0, 0))).as("an entry that was never used").isNull();
    assertThat(peers.find(changed(key, 1 << 30, key.generation(), key.length()))).isNull();
    assertThat(own.find(key)).as("on the side that exposes it").isNull();
  }

  private static RmaKey changed(RmaKey key, int id, long generation, long length) {
    return new RmaKey(id, generation, length, key.rights(), key.key());
  }

  @Test
  void thePeerHasNoAccessBeyondItsRights() {
    assertThat(accessOf(RmaRight.READ)).isEqualTo(AccessFlags.REMOTE_READ);
    assertThat(accessOf(RmaRight.WRITE))
        .isEqualTo(AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
    assertThat(accessOf(RmaRight.ATOMIC))
        .isEqualTo(AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_ATOMIC);
    assertThat(accessOf(RmaRight.values())).isEqualTo(15);
  }

  private int accessOf(RmaRight... rights) {
    Exposure exposure = exposures.add(memory, Set.of(rights));
    PeerMemory found = peers.find(exposure.key());
    for (RmaRight right : RmaRight.values()) {
      assertThat(found.allows(right)).isEqualTo(Set.of(rights).contains(right));
    }
    return device.lastAccess;
  }

  @Test
  void endedExposuresAreNeitherFoundNorAccessed() {
    Exposure exposure = expose();
    PeerMemory found = peers.find(exposure.key());
    assertThat(found.acquire()).isTrue();
    peers.release(found.region());

    exposures.takeBack(exposure);
    exposures.takeBack(exposure);

    assertThat(peers.find(exposure.key())).isNull();
    assertThat(found.acquire()).isFalse();
  }

  @Test
  void endingAnExposureWaitsForOutstandingRequests() throws Exception {
    Exposure exposure = expose();
    PeerMemory found = peers.find(exposure.key());
    assertThat(found.acquire()).isTrue();
    assertThat(found.acquire()).isTrue();
    CompletableFuture<Void> closing =
        CompletableFuture.runAsync(() -> exposures.takeBack(exposure));
    while (peers.find(exposure.key()) != null) {
      Thread.onSpinWait();
    }
    peers.release(found.region());
    assertThat(found.acquire()).as("a request that is too late").isFalse();
    assertThat(closing).isNotDone();

    peers.release(found.region());

    closing.get();
    assertThat(life.end).isNull();
  }

  @Test
  void aPeerThatNeverEndsItsAccessIsLost() {
    life.patience = Duration.ofMillis(20);
    Exposure exposure = expose();
    assertThat(peers.find(exposure.key()).acquire()).isTrue();

    exposures.takeBack(exposure);

    assertThat(life.end).contains("accessed the memory for longer than closeTimeout");
  }

  /** The thread that ends an exposure may not have been scheduled before the deadline. */
  @Test
  void aPeerThatEndsItsAccessBeforeTheLastReadIsNotLost() {
    life.patience = Duration.ZERO;
    Exposure exposure = expose();
    assertThat(peers.find(exposure.key()).acquire()).isTrue();
    Consumer<ScriptedDevice.Send> device = this.device.onSend;
    this.device.onSend =
        send -> {
          device.accept(send);
          if (send.operation() == ScriptedDevice.RDMA_READ) {
            this.device.onSend = device;
            peers.release(exposure.key().id()); // right after the first READ
          }
        };

    exposures.takeBack(exposure);

    assertThat(life.end).isNull();
  }

  /** A close callback of the program may close the connection. */
  @Test
  void aLostConnectionMayBeClosedWhileAnExposureEnds() {
    life.patience = Duration.ZERO;
    life.onLost = exposures::close;
    int before = device.registrations.get();
    Exposure exposure = expose();
    assertThat(peers.find(exposure.key()).acquire()).isTrue();

    exposures.takeBack(exposure);

    assertThat(device.registrations).hasValue(before);
  }

  @Test
  void exposingFailsIfTheConnectionEnds() {
    device.onSend = send -> life.lost("the wire was cut");

    assertThatThrownBy(() -> exposures.add(memory, BOTH))
        .isInstanceOf(PeerLostException.class)
        .hasMessageContaining("the wire was cut");
    device.onSend = null;
    assertThatThrownBy(() -> exposures.add(memory, BOTH)).isInstanceOf(PeerLostException.class);
  }

  @Test
  void exposuresCanBeEndedAfterTheConnectionHasEnded() {
    Exposure exposure = expose();
    Exposure other = expose();
    life.lost("the wire was cut");

    exposures.takeBack(exposure);
    exposures.close();
    exposures.takeBack(other);

    assertThat(life.end).isEqualTo("the wire was cut");
  }

  @Test
  void theNumberOfExposuresIsLimitedAndEndedOnesFreeTheirNumbers() {
    Exposure[] all = new Exposure[Exposures.limit()];
    for (int i = 0; i < all.length; i++) {
      all[i] = expose();
    }
    assertThat(exposures.add(memory, BOTH)).isNull();
    exposures.takeBack(all[7]);

    Exposure next = expose();

    assertThat(next.key().id()).isEqualTo(7);
    assertThat(peers.find(all[7].key())).as("the previous exposure of the number").isNull();
    assertThat(peers.find(next.key())).isNotNull();
  }

  @Test
  void emptyMemoryNeedsNoRegistration() {
    Exposure exposure = exposures.add(memory.asSlice(0, 0), BOTH);

    assertThat(exposure.key().key()).isZero();
    assertThat(peers.find(exposure.key()).length()).isZero();
    exposures.takeBack(exposure);
  }

  /** A peer can write anything to the table at any time. */
  @Test
  void aCorruptEntryIsNotFound() {
    Exposure exposure = expose();
    for (int entry = 0; entry < AccessTableLayout.IN_USE; entry += Integer.BYTES) {
      int before = peers.memory().get(ValueLayout.JAVA_INT, entry);
      peers.memory().set(ValueLayout.JAVA_INT, entry, ~before);
      boolean isOfHandle =
          entry < AccessTableLayout.ENTRY_FIRST; // these fields are also in the handle
      assertThat(peers.find(exposure.key()) == null).as("at %d", entry).isEqualTo(isOfHandle);
      peers.memory().set(ValueLayout.JAVA_INT, entry, before);
    }
  }
}
