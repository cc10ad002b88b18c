// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import static dev.ferrule.rdma.simulation.VerbsPair.End.next;
import static dev.ferrule.rdma.simulation.VerbsPair.eventually;
import static dev.ferrule.rdma.simulation.VerbsPair.flushed;
import static dev.ferrule.rdma.simulation.VerbsPair.success;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.posix.Errno;
import dev.ferrule.rdma.simulation.VerbsPair.End;
import dev.ferrule.verbs.AsyncEvent;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.ProtectionDomain;
import dev.ferrule.verbs.SendChain;
import dev.ferrule.verbs.SendOperation;
import dev.ferrule.verbs.VerbsContext;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.cm.CmEvent;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The rules of the verbs that the simulated fabric follows. */
class SimulatedFabricTest {

  private static final String SIMULATED = SimulatedVerbs.DEVICE;

  /** The actions of a test on a connected pair. */
  private interface Work {
    void run(SimulatedFabric fabric, VerbsPair pair);
  }

  private static void onPair(Work work) {
    onPair(false, work);
  }

  private static void onPair(boolean sharesReceives, Work work) {
    try (SimulatedFabric fabric = new SimulatedFabric(1)) {
      try (VerbsPair pair = new VerbsPair(fabric.library(), sharesReceives)) {
        work.run(fabric, pair);
      }
    }
  }

  private static AsyncEvent awaitAsyncEvent(End end) {
    return eventually(end.domain.context()::nextAsyncEvent);
  }

  @Test
  void aMessageWaitsForAReceiveAndIsCounted() {
    onPair((fabric, pair) -> {
      assertThat(pair.client.send(1, 8, SendChain.SIGNALED)).isZero();
      eventually(() -> fabric.receiverNotReady() == 1 ? Optional.of(true) : Optional.empty());
      assertThat(pair.client.sends.poll(1)).isZero();
      pair.server.receive(2, 8);
      assertThat(next(pair.server.receives)).isEqualTo(success(2));
      assertThat(next(pair.client.sends)).isEqualTo(success(1));
      assertThat(fabric.receiverNotReady()).isEqualTo(1);
    });
  }

  @Test
  void onlyTheFirstCompletionAfterARequestCausesAnEvent() {
    onPair((fabric, pair) -> {
      End server = pair.server;
      for (int i = 0; i < 3; i++) {
        server.receive(i, 8);
      }
      pair.client.send(1, 8, SendChain.SIGNALED);
      assertThat(next(server.receives)).isEqualTo(success(0));
      assertThat(server.events.nextEvent()).isEmpty(); // not requested
      server.receives.requestNotification();
      assertThat(server.events.nextEvent()).isEmpty(); // no completion since the request
      pair.client.send(2, 8, SendChain.SIGNALED);
      pair.client.send(3, 8, SendChain.SIGNALED);
      assertThat(next(server.receives)).isEqualTo(success(1));
      assertThat(next(server.receives)).isEqualTo(success(2));
      assertThat(server.events.nextEvent()).hasValue(7);
      assertThat(server.events.nextEvent()).isEmpty();
    });
  }

  @Test
  void anErrorFlushesAllRequestsInOrder() {
    onPair((fabric, pair) -> {
      pair.server.receive(1, 8);
      pair.server.receive(2, 8);
      pair.server.queuePair.toError();
      assertThat(pair.server.send(3, 8, 0)).isZero(); // unsignaled ones occupy the queue as well
      assertThat(next(pair.server.receives)).isEqualTo(flushed(1));
      assertThat(next(pair.server.receives)).isEqualTo(flushed(2));
      assertThat(next(pair.server.sends)).isEqualTo(flushed(3));
    });
  }

  @Test
  void aSharedReceiveQueueIsNotFlushedButItsLastReceiveIsReported() {
    onPair(
        true,
        (fabric, pair) -> {
          pair.server.receive(1, 8);
          pair.server.queuePair.toError();
          assertThat(awaitAsyncEvent(pair.server).type())
              .isEqualTo(AsyncEvent.Type.LAST_WORK_REQUEST_REACHED);
          assertThat(pair.server.receives.poll(1)).isZero();
        });
  }

  @Test
  void aPeerThatDoesNotAnswerEndsTheRetries() {
    onPair((fabric, pair) -> {
      fabric.setRetryTime(Duration.ofMillis(1));
      pair.server.queuePair.toError();
      pair.client.send(1, 8, SendChain.SIGNALED);
      assertThat(next(pair.client.sends)).isEqualTo("1 " + CompletionStatus.RETRY_EXCEEDED);
    });
  }

  @Test
  void aWriteBeyondTheBoundsOrWithoutTheKeyEndsBothSides() {
    for (int keyOffset = 0; keyOffset < 2; keyOffset++) {
      int offset = keyOffset;
      onPair((fabric, pair) -> {
        long beyond = pair.server.memory.segment().address() + (offset == 0 ? 1 : 0);
        pair.server.receive(9, 8);
        pair.client.write(1, VerbsPair.MEMORY, beyond, pair.server.memory.remoteKey() + offset);
        pair.client.send(2, 8, 0);
        assertThat(next(pair.client.sends)).isEqualTo("1 " + CompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(next(pair.client.sends)).isEqualTo(flushed(2));
        assertThat(next(pair.server.receives)).isEqualTo(flushed(9));
        assertThat(awaitAsyncEvent(pair.server).type())
            .isEqualTo(AsyncEvent.Type.QUEUE_PAIR_ACCESS_ERROR);
      });
    }
  }

  @Test
  void anAtomicOperationNeedsItsRight() {
    onPair((fabric, pair) -> {
      End client = pair.client;
      long address = client.memory.segment().address();
      int key = client.memory.localKey();
      client.chain.set(0, SendOperation.FETCH_AND_ADD, 1, address, 8, key, SendChain.SIGNALED);
      client.chain.setAtomic(
          0, pair.server.memory.segment().address(), pair.server.memory.remoteKey(), 1, 0);
      client.queuePair.post(client.chain, 0, 1);
      assertThat(next(client.sends)).isEqualTo("1 " + CompletionStatus.REMOTE_ACCESS_ERROR);
      assertThat(pair.server.memory.segment().get(ValueLayout.JAVA_LONG, 0)).isZero();
    });
  }

  @Test
  void aMessageLongerThanItsReceiveEndsBothSides() {
    onPair((fabric, pair) -> {
      pair.server.receive(1, 8);
      pair.client.send(2, 9, SendChain.SIGNALED);
      assertThat(next(pair.server.receives)).isEqualTo("1 " + CompletionStatus.LOCAL_LENGTH_ERROR);
      assertThat(next(pair.client.sends))
          .isEqualTo("2 " + CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
    });
  }

  @Test
  void aRequestOccupiesItsQueueUntilALaterCompletionIsPolled() {
    onPair((fabric, pair) -> {
      for (int i = 0; i < VerbsPair.QUEUE; i++) {
        assertThat(pair.server.receive(i, 8)).isZero();
        int flags = i == VerbsPair.QUEUE - 1 ? SendChain.SIGNALED : 0;
        assertThat(pair.client.send(i, 8, flags)).isZero();
      }
      assertThat(pair.client.send(9, 8, 0)).isEqualTo(-Errno.ENOMEM);
      assertThat(pair.client.chain.failedIndex()).isZero();
      assertThat(pair.server.receive(9, 8)).isEqualTo(-Errno.ENOMEM);
      assertThat(next(pair.client.sends)).isEqualTo(success(3));
      assertThat(pair.client.send(9, 8, 0)).isZero();
      assertThat(next(pair.server.receives)).isEqualTo(success(0));
      assertThat(pair.server.receive(9, 8)).isZero();
    });
  }

  @Test
  void moreInlineBytesThanAgreedAreRejected() {
    onPair((fabric, pair) ->
        assertThat(pair.client.send(1, 17, SendChain.INLINE)).isEqualTo(-Errno.EINVAL));
  }

  @Test
  void aDisconnectionIsReportedToThePeerAndThenAnswered() {
    onPair((fabric, pair) -> {
      pair.client.id.disconnect();
      assertThat(pair.await(CmEvent.Type.DISCONNECTED).id()).isEqualTo(pair.server.id.address());
      pair.server.id.disconnect();
      assertThat(pair.await(CmEvent.Type.DISCONNECTED).id()).isEqualTo(pair.client.id.address());
      assertThat(pair.await(CmEvent.Type.TIMEWAIT_EXIT).id()).isEqualTo(pair.client.id.address());
    });
  }

  @Test
  void anInjectedFailureOfACallIsReturned() {
    try (SimulatedFabric fabric = new SimulatedFabric(1);
        VerbsContext context = fabric.library().open(SIMULATED)) {
      fabric.failNext("allocPd", Errno.ENOMEM);
      assertThatThrownBy(context::allocateProtectionDomain)
          .isInstanceOfSatisfying(
              VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM));
      context.allocateProtectionDomain().close();
      assertThat(fabric.takeFailedCalls()).isEqualTo(Map.of("allocPd", 1));
    }
  }

  @Test
  void aFailureOfACallThatDoesNotExistIsRejected() {
    try (SimulatedFabric fabric = new SimulatedFabric(1)) {
      assertThatThrownBy(() -> fabric.fail("allocPf", Errno.ENOMEM))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("allocPf");
    }
  }

  @Test
  void anObjectThatIsDestroyedTwiceOrNotAtAllIsReported() {
    SimulatedFabric fabric = new SimulatedFabric(1);
    VerbsContext context = fabric.library().open(SIMULATED);
    ProtectionDomain domain = context.allocateProtectionDomain();
    domain.close();
    assertThat(fabric.problems()).isEmpty();
    assertThatThrownBy(domain::close).isInstanceOf(VerbsException.class);
    assertThat(fabric.problems()).hasSize(1);
    assertThatThrownBy(fabric::close)
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("ContextState");
  }
}
