/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * When a side of sendrecv sends a GRANT, without the tick of the event loop: docs/protocol-sendrecv.md, "Credits" and "Receiving".
 * Window (messageReceived, reposted, isPeerStarving, isGrantDue, mayGrant, immediate), OwnBufferReposter (free,
 * repostForBlockedPeer, repost), and of dev.ferrule.rdma: ControlMessages.sendReport, ReceiveQueue.poll,
 * Channel.afterPoll, RdmaReceiver.isHere.
 *
 * One side grants. It has three threads: that of the receiver, which receives, frees, polls and reposts; one that waits
 * for credit and polls meanwhile; and one that sends messages, which grant as well. Its program holds any messages for
 * any time, and may stop calling. With FREES_ALL, it frees all of them and continues to receive. The peer sends whenever
 * it has credit.
 *
 * Memory: a store by setRelease becomes visible to other threads at any time up to the next fence or lock of its thread.
 * The thread itself sees it at once (`own`). grantedToPeer is not delayed: the doorbell behind its store is a barrier.
 *
 * Proved: at rest, everything posted is granted if the peer has no credit; and nothing freed waits to be posted then,
 * unless a message has arrived since the program last freed one, or last received and found none. If the program frees
 * all and receives, all messages are received. The limit of unreported control messages delays no grant to a peer without
 * credit: with its last message, the peer has reported all control messages that it had taken.
 *
 * With ENDS, the side that grants also closes its senders at any time. At rest the END, a grant of another type, has been
 * sent.
 *
 * The tick is needed in two cases, which are left out. In the first, the program neither frees nor receives after the
 * peer's last message has arrived, and the buffers freed before are less than a batch, or no thread has polled that
 * message. In the second, the peer has claimed credit without using it: this side does not know that the peer has none,
 * and may have to poll for its reports.
 *
 * Bounds: windows of 1 to 4, 2 messages more than the window, or 6; batches of 1 to 3 (in the code a quarter of the window,
 * up to 16); 1 or 2 other messages of this side, with windows up to 3. So no counter overflows.
 * One step: a poll of one completion; the SEND; what the peer does. The peer takes what is sent to it at once, and acts
 * on it at any time later. Left out: the limit of 8 control messages in flight; sleep and wake-up of the receiver's
 * thread; the shared receive queue, whose thread also calls Window.reposted (sendrecv-shared).
 *
 * prove safety WINDOW=1 ANSWERS=2 MESSAGES=6
 * prove safety WINDOW=2 ANSWERS=1 BATCH=2
 * prove safety WINDOW=3 ANSWERS=1
 * prove safety WINDOW=4
 * prove safety WINDOW=4 BATCH=3
 * prove safety WINDOW=1 BATCH=2
 * prove safety WINDOW=2 FREES_ALL=1 ANSWERS=1 BATCH=2
 * prove safety WINDOW=4 FREES_ALL=1
 * prove safety WINDOW=1 ENDS=1 ANSWERS=1
 * prove safety WINDOW=2 ENDS=1 BATCH=2
 * prove safety WINDOW=3 ENDS=1
 * After a poll, there is no check for an END that waits for the peer's confirmation:
 * refute safety WINDOW=2 ENDS=1 END_AT_ONCE_ONLY=1: assertion violated
 * The thread that reposts, or the one that polls, does not see what the other has just stored:
 * refute safety WINDOW=3 NO_FENCE_IN_REPOSTED=1: assertion violated
 * refute safety WINDOW=3 NO_FENCE_IN_IS_GRANT_DUE=1: assertion violated
 * A grant is due by half of the receives only; or there is no check for it after a poll; or none after reposting:
 * refute safety WINDOW=3 NO_STARVING=1: assertion violated
 * refute safety WINDOW=3 NO_REPORT_AFTER_POLL=1: assertion violated
 * refute safety WINDOW=1 NO_REPORT_AFTER_REPOST=1: assertion violated
 * Freed buffers wait for a batch although the peer has no credit: always, with a batch larger than the window; or until
 * the next free, although the receiver finds no message:
 * refute safety WINDOW=1 BATCH=2 NO_STARVING_AT_FREE=1: assertion violated
 * refute safety WINDOW=2 BATCH=2 NO_RELIEF=1: assertion violated
 * refute safety WINDOW=1 BATCH=2 FREES_ALL=1 NO_STARVING_AT_FREE=1 NO_RELIEF=1: assertion violated
 */
#ifndef WINDOW
#define WINDOW 2
#endif
#ifndef BATCH
#define BATCH 1
#endif
#ifndef MESSAGES
#define MESSAGES (WINDOW + 2)
#endif
#ifndef ANSWERS
#define ANSWERS 0 /* messages of the side that grants */
#endif

/* Window. Behind `own` is the value that the thread sees which has stored it. */
byte received, ownReceived;       /* by the thread that polls, under the lock of the receive queue */
byte arrived;                     /* of MessageQueue: stored after received, with the same value */
byte reposted = WINDOW, ownReposted = WINDOW; /* by the receiver's thread */
byte grantedToPeer = WINDOW;      /* under the lock of the send queue */
byte unreported, toReport;        /* control messages of this side; of the peer */
bit lock;                         /* of the send queue */
byte lastPoller;                  /* the thread that has stored received */
/* The receiver's thread */
byte taken, held, unposted;
bit late;                         /* a message has arrived since the program last freed, or received none */
bit endPending;                   /* under the lock of the send queue */
/* The peer */
byte credit = WINDOW, left = MESSAGES, peerUnreported, peerToReport;

#define RECEIVER 0
#define POLLER 1
#define SENDER 2
mtype = { MESSAGE, GRANT };
chan arriving = [WINDOW + 4] of { mtype, byte };      /* the type, newly reported control messages */

#define seenReceived (thread == lastPoller -> ownReceived : received)
#define seenArrived (thread == lastPoller -> ownReceived : arrived)
#define seenReposted (thread == RECEIVER -> ownReposted : reposted)
inline fullFence() {
  d_step {
    if
    :: thread == lastPoller -> received = ownReceived; arrived = ownReceived
    :: else
    fi;
    if
    :: thread == RECEIVER -> reposted = ownReposted
    :: else
    fi
  }
}
active proctype Stores() {
end_stores:
  do
  :: d_step { received < ownReceived -> received++ }
  :: d_step { arrived < received -> arrived++ }
  :: d_step { reposted < ownReposted -> reposted = ownReposted }
  od
}

#ifdef END_AT_ONCE_ONLY
#define endDue (endPending && thread == SENDER)
#define endSent (thread == SENDER)
#else
#define endDue endPending
#define endSent true
#endif
inline isGrantDue() {
  granted = grantedToPeer;
  starving = (seenReceived == granted);
#ifndef NO_FENCE_IN_IS_GRANT_DUE
  atomic {
    if
    :: starving && seenReposted == granted -> fullFence()
    :: else
    fi
  }
#endif
#ifdef NO_STARVING
  starving = 0;
#endif
  d_step {
    due = (endDue || (seenReposted > granted && (starving || 2 * (seenReposted - granted) >= WINDOW)) || toReport >= 2);
    granted = 0; starving = 0
  }
}

#define mayGrant (unreported < 2 || (unreported == 2 && toReport > 0))
/* Window.immediate, and the SEND, which the peer takes at once. It reacts at any time later. */
inline post() {
  credit = credit + seenReposted - grantedToPeer;
  grantedToPeer = seenReposted;
  peerUnreported = peerUnreported - toReport;
  toReport = 0
}

/* ControlMessages.sendReport */
inline sendReport() {
  isGrantDue();
  if
  :: due ->
    atomic { !lock -> lock = 1; fullFence() }
    isGrantDue();
    if
    :: due && mayGrant ->
       d_step { unreported++; assert(unreported < 4); endPending = endPending && !endSent; post(); peerToReport++ }
    :: else
    fi;
    atomic { lock = 0; due = 0 }
  :: else
  fi
}

/* ReceiveQueue.poll and SendRecvChannel.received: one completion, under the lock */
inline poll() {
  atomic { nempty(arriving) ->
    received = ownReceived; arrived = ownReceived; /* of the last thread that had the lock */
    lastPoller = thread;
    if
    :: arriving ? MESSAGE, controls -> ownReceived++; late = 1; assert(ownReceived <= grantedToPeer)
    :: arriving ? GRANT, controls -> toReport++; assert(toReport <= 4)
    fi;
    unreported = unreported - controls; controls = 0
  }
#ifndef NO_REPORT_AFTER_POLL
  sendReport() /* Channel.afterPoll */
#endif
}

/* A sender that waits */
active proctype Poller() {
  byte thread = POLLER, granted, controls;
  bit starving, due;
end_poller:
  do
  :: poll()
  od
}

/* SendQueue.post */
active proctype Sender() {
  byte thread = SENDER, answers;
end_sender:
  do
  :: d_step { !lock && answers < ANSWERS -> answers++; post() }
  od
}

#ifdef ENDS
/* ControlMessages.sendEnd */
active proctype Ender() {
  byte thread = SENDER, granted;
  bit starving, due;
  atomic { !lock -> endPending = 1 }
  sendReport()
}
#endif

/* OwnBufferReposter.repostByReceiver: ReceiveBuffers.post has a lock of its own, Window.reposted the fence */
inline repost() {
  atomic { ownReposted = ownReposted + unposted; unposted = 0 }
#ifndef NO_FENCE_IN_REPOSTED
  fullFence();
#endif
#ifndef NO_REPORT_AFTER_REPOST
  sendReport()
#endif
}

inline isPeerStarving() {
  granted = seenReceived;
  atomic { starving = (granted == grantedToPeer); granted = 0 }
}

active proctype Receiver() {
  byte thread = RECEIVER, granted, controls;
  bit starving, due;
end_receiver:
  do
  :: held > 0 -> /* free */
    atomic { held--; unposted++; late = (received != ownReceived) }
#ifndef NO_STARVING_AT_FREE
    isPeerStarving();
#endif
    if
    :: unposted == BATCH || starving -> starving = 0; repost()
    :: else
    fi
  :: atomic { taken < seenArrived -> taken++; held++ } /* receive */
  :: taken == seenArrived -> /* RdmaReceiver.isHere: hasNext, releaseSpaceToBlockedPeer, and Waiter.await */
    if
    :: poll()
    :: atomic { empty(arriving) -> late = (received != ownReceived) }
#ifndef NO_RELIEF
      if
      :: unposted > 0 ->
        isPeerStarving();
        if
        :: starving -> starving = 0; repost()
        :: else
        fi
      :: else
      fi;
#endif
#ifdef FREES_ALL
      if
      :: held == 0
      :: held > 0 -> goto next
      fi;
#endif
end_waiting:
      taken < seenArrived
    fi;
next: skip
#ifndef FREES_ALL
  :: break /* it holds its messages, and makes no further call */
#endif
  od
}

#define peerMayGrant (peerUnreported < 2 || (peerUnreported == 2 && peerToReport > 0))
active proctype Peer() {
end_peer:
  do
  :: d_step { credit > 0 && left > 0 -> credit--; left--; arriving ! MESSAGE, peerToReport; peerToReport = 0 }
  :: d_step { peerToReport >= 2 && peerMayGrant -> peerUnreported++; arriving ! GRANT, peerToReport; peerToReport = 0 }
  od
}

active proctype End() {
  timeout;
#ifdef ENDS
  assert(empty(arriving) && !endPending && (credit > 0 || unreported <= 1)); /* the END may be unreported */
#else
  assert(empty(arriving) && (credit > 0 || unreported == 0));
#endif
  assert(credit > 0 || left == 0 || (grantedToPeer == reposted && (unposted == 0 || late)));
#ifdef FREES_ALL
  assert(left == 0)
#endif
}
