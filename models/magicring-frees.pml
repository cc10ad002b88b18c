/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * When a receiver of magicring acknowledges: RingMessages.isAckDue, publishFrees and acknowledge, in the thread that
 * polls (Channel.afterPoll, which may be a sender's), in the receiver's thread (RingChannel.freed, releaseHeldBackSpace)
 * and under the lock of the send queue; docs/protocol-magicring.md, "Acknowledgments". Stores with setRelease may be
 * delayed past later loads of the same thread, until it passes a full fence, takes a lock or stores to a volatile field.
 *
 * Proved: no due acknowledgment is missed, even without the tick of the event loop. When every thread waits, or the
 * program holds a message that has arrived since it last looked for one, everything freed is acknowledged if the receiver
 * knows that the sender lacks room for the longest message. Each due acknowledgment is sent at some time. The
 * numbers in an acknowledgment are consistent.
 *
 * Bounds: window 2; numbers modulo 3. WANTS=1 adds WANTs; it is not among the checks, as it has 6.7 million states.
 * Merged: the load or store of one word, with accesses to what only that thread uses. The store of acknowledgedMessages
 * is not delayed: the doorbell behind it is a barrier, and isAckDue is evaluated again under the lock.
 * Left out: bytes, and frees in any order (magicring.pml); a receiver's thread that polls itself, which has a further
 * fence, the lock; acknowledgments by a quarter of the window or of the ring, and by acknowledge=each, which are
 * additional ones.
 *
 * prove safety
 * prove acknowledged
 * refute safety NO_FENCE_IN_IS_ACK_DUE=1: invalid end state
 * refute safety NO_FENCE_IN_PUBLISH_FREES=1: invalid end state
 * refute safety NO_RELIEF=1: invalid end state
 * refute safety NO_REPORT_AFTER_POLL=1: invalid end state
 * refute safety FREED_BYTES=1: assertion violated
 * refute acknowledged NO_RELIEF=1: acceptance cycle
 */
#ifndef WINDOW
#define WINDOW 2
#endif
#ifndef STARVING
#define STARVING WINDOW
#endif
#define NUMBERS (WINDOW + 1)
#define SLOTS NUMBERS
#define minus(a, b) ((NUMBERS + a - b) % NUMBERS)

/* Each word has the value that other threads see, and, behind `own`, that of the thread which stores it. */
byte messagesArrived, ownArrived; /* by the polling thread */
byte freedMessages, ownFreed;     /* by the receiver's thread */
byte acknowledgedMessages;        /* under the lock */
byte ends[SLOTS];                 /* the position behind each message: here its number plus 1 */
bit wanted, wantsTaken;           /* volatile */
bit lock;                         /* of the send queue */
mtype = { MESSAGE, WANT };
chan completions = [WINDOW + 1] of { mtype };
chan acknowledgments = [WINDOW + 1] of { byte, byte, bit }; /* messages, bytes, WANTs */

active proctype Stores() {
end_stores:
  do
  :: messagesArrived != ownArrived -> messagesArrived = ownArrived
  :: freedMessages != ownFreed -> freedMessages = ownFreed
  od
}
#define POLLER 0
#define RECEIVER 1
#define seenArrived (thread == POLLER -> ownArrived : messagesArrived)
#define seenFreed (thread == RECEIVER -> ownFreed : freedMessages)
inline fullFence() {
  d_step {
    if
    :: thread == POLLER -> messagesArrived = ownArrived
    :: else -> freedMessages = ownFreed
    fi
  }
}

inline isSenderStarving() {
  acked = acknowledgedMessages;
  starving = wanted;
  starving = starving || minus(seenArrived, acked) >= STARVING
}

inline isAckDue() {
  acked = acknowledgedMessages;
  owed = (seenFreed != acked);
  isSenderStarving();
  if
  :: !owed && starving ->
#ifndef NO_FENCE_IN_IS_ACK_DUE
    fullFence();
#endif
    acked = acknowledgedMessages; /* isAckOwed */
    owed = (seenFreed != acked);
    isSenderStarving()
  :: else
  fi;
  d_step { due = owed && starving; owed = 0; starving = 0; acked = 0 }
}

/* ControlMessages.sendReport, and RingMessages.acknowledge; `acked` is then the number of messages */
inline sendReport() {
  isAckDue();
  if
  :: due ->
    atomic { !lock -> lock = 1; fullFence() }
    isAckDue();
    if
    :: due ->
      wanted = 0;
      acked = seenFreed;
      atomic {
#ifdef FREED_BYTES
        acknowledgments!acked, ownFreed, wantsTaken;
#else
        acknowledgments!acked, ends[minus(acked, 1) % SLOTS], wantsTaken;
#endif
        acknowledgedMessages = acked;
        acked = 0
      }
    :: else
    fi;
    atomic { lock = 0; due = 0 }
  :: else
  fi
}

/* ReceiveQueue.poll, RingChannel.received, Channel.afterPoll */
proctype Polling(byte thread) {
  byte acked;
  bool owed, starving, due;
end_polling:
  do
  :: atomic { completions?MESSAGE ->
      assert(minus(ownArrived, acknowledgedMessages) < WINDOW);
      ends[ownArrived % SLOTS] = (ownArrived + 1) % NUMBERS;
      ownArrived = (ownArrived + 1) % NUMBERS
    }
#ifndef NO_REPORT_AFTER_POLL
    sendReport()
#endif
#ifdef WANTS
  :: atomic { completions?WANT -> wantsTaken = 1 - wantsTaken }
    atomic { wanted = 1; fullFence() }
    sendReport()
#endif
  od
}

/* The program: it receives, frees all in the end, and then waits for the next message. */
proctype Receiving(byte thread) {
  byte acked;
  bool owed, starving, due;
  do
  :: ownFreed != messagesArrived ->
    ownFreed = (ownFreed + 1) % NUMBERS;
    sendReport()
  :: ownFreed == messagesArrived -> /* RdmaReceiver.isHere found none: releaseHeldBackSpace */
#ifndef NO_RELIEF
    if
    :: ownFreed != acknowledgedMessages -> /* isAckOwed */
#ifndef NO_FENCE_IN_PUBLISH_FREES
      fullFence(); /* publishFrees */
#endif
      sendReport()
    :: else
    fi;
#endif
end_receiving:
    ownFreed != messagesArrived;
    if
    :: skip
    :: true -> end_busy: false /* it holds the message that has just arrived, and does not look again */
    fi
  od
}

inline take() {
  atomic { acknowledgments?messages, bytes, wants ->
    assert(bytes == messages);
    assert(messages != acked && minus(messages, acked) <= minus(sent, acked));
    assert(wants == wantsConfirmed || wantsConfirmed != wantsSent);
    acked = messages; wantsConfirmed = wants; ackedSinceWant = 1;
    messages = 0; bytes = 0; wants = 0
  }
}
/* RingSpace: the sender, of which magicring.pml has the details. */
active proctype Peer() {
  byte sent, acked, messages, bytes;
  bit wantsSent, wantsConfirmed, ackedSinceWant = 1, wants;
end_peer:
  do
  :: minus(sent, acked) < WINDOW -> atomic { completions!MESSAGE; sent = (sent + 1) % NUMBERS }
  :: minus(sent, acked) >= STARVING -> end_longest: take() /* the longest message has to wait */
#ifdef WANTS
  :: sent != acked -> /* the program's claims must be sent after the next message, for which there is no room */
end_claims:
    do
    :: atomic { wantsSent == wantsConfirmed && ackedSinceWant ->
        completions!WANT;
        wantsSent = 1 - wantsSent;
        ackedSinceWant = 0
      }
    :: take()
    :: sent == acked -> break
    od
#endif
  :: take()
  od
}

#define isMissing (freedMessages != acknowledgedMessages \
  && (wanted || minus(messagesArrived, acknowledgedMessages) >= STARVING))
/* Each due acknowledgment is sent. */
active proctype Check() {
end_check:
  do
  :: isMissing -> !isMissing
  od
}

init { atomic { run Polling(POLLER); run Receiving(RECEIVER) } }

ltl acknowledged { [] (isMissing -> <> !isMissing) }
