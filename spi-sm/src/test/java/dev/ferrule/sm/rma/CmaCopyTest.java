// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.posix.Credentials;
import dev.ferrule.posix.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The interpretation of errors of cross-memory attach. */
class CmaCopyTest {

  private static final long NOWHERE = 8;

  private final Arena arena = Arena.ofConfined();
  private final RmaArea peer = RmaAreas.allocate(arena, 0);
  private final CmaCopy copy = new CmaCopy(peer);

  @AfterEach
  void free() {
    arena.close();
  }

  @Test
  void missingMemoryOfALiveProcessIsNotALostPeer() {
    assertThat(copy.probe()).isNull();
    assertThat(copy.mayHaveLostPeer(Errno.EFAULT)).isFalse();
  }

  /** The kernel may release the memory of a killed process before the process has ended. */
  @Test
  void missingMemoryAndProbeMayBeALostPeer() {
    MemorySegment.ofAddress(peer.address())
        .reinterpret(RmaLayout.SIZE)
        .set(ValueLayout.JAVA_LONG, RmaLayout.DESCRIPTOR_PROBE, NOWHERE);
    assertThat(copy.probe()).isNotNull();
    assertThat(copy.mayHaveLostPeer(Errno.EFAULT)).isTrue();
  }

  @Test
  void theProcessIsTheOneThatTheKernelNamesWhateverThePeerHasWritten() {
    MemorySegment.ofAddress(peer.address())
        .reinterpret(RmaLayout.SIZE)
        .set(ValueLayout.JAVA_LONG, RmaLayout.DESCRIPTOR_PID, 1);
    assertThat(new CmaCopy(peer).probe()).isNull();
  }

  @Test
  void aProcessOfNoVisiblePidNamespaceIsNotReachedAndNotLost() {
    RmaArea invisible =
        new RmaArea(
            peer.address(), 0, 0, MemorySegment.NULL, new Credentials(0, Credentials.own().uid()));
    assertThat(new CmaCopy(invisible).probe())
        .isNotNull()
        .satisfies(obstacle -> assertThat(obstacle.mayBeItsEnd()).isFalse());
  }

  @Test
  void aProcessThatIsGoneIsALostPeerAndOneThatMayNotBeAccessedIsNot() {
    assertThat(copy.mayHaveLostPeer(Errno.ESRCH)).isTrue();
    assertThat(copy.mayHaveLostPeer(Errno.EPERM)).isFalse();
  }
}
