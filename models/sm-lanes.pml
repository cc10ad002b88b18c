/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Several senders of a connection of sm, each in a lane: docs/protocol-sm.md, "Several senders", "Death and close" and "The end of the
 * messages". Names are those of SmSenders (takeLane, producer, afterClose, producers), Lanes (take, giveBack, owned), AbstractSenders
 * (opening, closedLast), RingProducer (markUsed, markEnded, markClosed), SmConnection (close, onPeerClosed), ReceivedRings (find,
 * count, add, isEnded, mayHaveNext, known, rings, turn) and SmReceiver (isReady).
 *
 * Proved: a lane has one owner at a time, which continues where the previous one ended; the messages of each sender
 * arrive in order; the receiver reports the end of the connection only when it has received every message whose send
 * returned before the close; it does report the end (reported), and sleeps only while nothing has changed. With HALF the
 * connection stays open: closing the last sender ends the messages. The receiver reports that when it has received all
 * messages of all senders that were opened before; none is opened later.
 *
 * Bounds: 2 threads, each of which opens a sender, sends 2 messages (1 in most checks that refute) and closes it, in 2
 * lanes; one message in the first ring. One allocation of a lane may fail. 3 threads with a message each were explored
 * once (7.1 million states).
 *
 * One step: the loads of mayHaveNext, which is evaluated again whenever one of them changes; a step without a shared
 * word, together with the one before it.
 *
 * Left out: the contents of a ring (sm-ring): a publish is one store at the next place of a ring with enough room;
 * sleeping and waking (sm-sleep): the receiver waits for mayHaveNext or the end; a send that overlaps with the close,
 * whose message may be lost. The stores are releases or atomic, the loads acquire or volatile, so each process takes its
 * steps in order.
 *
 * prove safety MESSAGES=2
 * prove reported
 * prove safety HALF=1 MESSAGES=2
 * prove reported HALF=1
 * refute safety NO_CAS=1: assertion violated
 * refute safety GIVE_BACK_FIRST=1: assertion violated
 * refute safety CLOSE_FIRST=1: assertion violated
 * refute safety NO_SECOND_CHECK=1: assertion violated
 * refute safety OLD_LANES=1: assertion violated
 * refute safety NOT_MARKED=1: assertion violated
 * The messages end before the last one, or at the close of the first sender; or a sender is opened after the end:
 * refute safety HALF=1 END_FIRST=1: assertion violated
 * refute safety HALF=1 END_OF_FIRST=1: assertion violated
 * refute safety HALF=1 OPEN_AFTER_END=1: assertion violated
 * refute safety HALF=1 NO_SECOND_CHECK=1: assertion violated
 * refute safety HALF=1 OLD_LANES=1: assertion violated
 * refute reported HALF=1 NO_WAKE=1: acceptance cycle
 * The end does not wake the receiver; or a sender keeps its lane, so that the next one waits forever, and the close waits
 * for that:
 * refute reported NO_WAKE=1: acceptance cycle
 * refute reported NO_GIVE_BACK=1: acceptance cycle
 */
#ifndef SENDERS
#define SENDERS 2
#endif
#ifndef MESSAGES
#define MESSAGES 1
#endif
#define LANES 2
#define PLACES (SENDERS * MESSAGES + 1) /* messages that a ring can have */
#define TOTAL (SENDERS * MESSAGES + 1)
#define MESSAGE(sender, number) (1 + (sender) + (number) * 4)

typedef Ring { byte header[PLACES] } /* 0: no record */

/* shared: ring 0 is the first one, ring i + 1 lane i */
Ring ring[LANES + 1];
byte SENDER_LANES;
bit SENDER_CLOSED, SENDER_ENDED;

/* of the sending process */
byte owned;              /* a bit for each lane */
bit producers[LANES];    /* whether there is one */
byte tail[LANES];        /* its position */
byte users[LANES];       /* not in the code: the senders that use it */
byte returned;           /* sends */
byte opened = 1;          /* senders: the first, and those that are being opened */
bit allocationFailed;    /* once */

/* of the receiving process */
bit hasEnded, reportedEnd;
bit firstSent;           /* not in the code: the message of the first sender */

#ifdef HALF
#define isAtEnd SENDER_ENDED
#else
#define isAtEnd hasEnded
#endif

inline markEnded() {
#ifdef END_OF_FIRST
  skip
#else
  SENDER_ENDED = 1
#endif
}

/* afterClose: closedLast under the lock of SmSenders, markEnded behind it */
inline afterClose() {
  if
  :: d_step { opened > 1 -> opened-- }
  :: d_step { opened == 1 -> opened = 0 } markEnded()
  fi
}

/* Opens a sender, sends, and closes it. */
proctype Sender(byte id) {
  byte now, lane, at, sent;
again:
#ifdef HALF
#ifdef OPEN_AFTER_END
  atomic { opened++ }
#else
  if /* opening */
  :: d_step { opened > 0 -> opened++ }
  :: opened == 0 -> goto refused
  fi;
#endif
#endif
take:
  atomic { /* Lanes.take; if all are taken, a ResourceExhaustedException: the program tries again later */
    owned != 3 -> now = owned; lane = now & 1 /* the lowest bit that is 0 */
  }
#ifdef NO_CAS
  d_step { owned = now | 1 << lane; users[lane]++; assert(users[lane] == 1); now = 0 }
#else
  if
  :: d_step { owned == now -> owned = now | 1 << lane; users[lane]++; assert(users[lane] == 1); now = 0 }
  :: d_step { owned != now -> now = 0; lane = 0 } goto take
  fi;
#endif
  if
  :: producers[lane]
  :: !producers[lane] && !allocationFailed -> /* Lanes.giveBack; the program tries again */
#ifdef NO_GIVE_BACK
    d_step { allocationFailed = 1; users[lane]--; lane = 0 }
#else
    d_step { allocationFailed = 1; users[lane]--; owned = owned & ~(1 << lane); lane = 0 }
#endif
#ifdef HALF
    afterClose();
#endif
    goto again
  :: !producers[lane] ->
#ifndef NOT_MARKED
    SENDER_LANES = SENDER_LANES | 1 << lane; /* markUsed */
#endif
    producers[lane] = 1
  fi;
#ifdef GIVE_BACK_FIRST
  d_step { users[lane]--; owned = owned & ~(1 << lane) }
#endif
  do
  :: sent < MESSAGES ->
    at = tail[lane];
    atomic { assert(ring[lane + 1].header[at] == 0); ring[lane + 1].header[at] = MESSAGE(id, sent) }
    atomic { tail[lane] = at + 1; at = 0; sent++; returned++; assert(!reportedEnd) }
  :: sent == MESSAGES -> break
  od;
#if !defined(GIVE_BACK_FIRST) && !defined(NO_GIVE_BACK)
  atomic { users[lane]--; owned = owned & ~(1 << lane) } /* giveBack */
#endif
#ifdef HALF
  afterClose();
refused: skip
#endif
}

#ifdef HALF
proctype Closer() { /* the first sender sends, and is closed */
#ifdef END_FIRST
  SENDER_ENDED = 1;
#endif
  atomic { ring[0].header[0] = MESSAGE(SENDERS, 0); firstSent = 1 }
#ifdef END_OF_FIRST
  SENDER_ENDED = 1;
#endif
  afterClose()
}
#else
proctype Closer() {
#ifdef CLOSE_FIRST
  SENDER_CLOSED = 1;
#endif
  ring[0].header[0] = MESSAGE(SENDERS, 0);
  returned == SENDERS * MESSAGES;
  SENDER_CLOSED = 1
}
#endif

proctype Endpoint() {
  SENDER_CLOSED -> hasEnded = 1 /* onPeerClosed */
}

byte position[LANES + 1], rings[LANES + 1], ringCount = 1, known, turn;

#define HAS(index) (ring[rings[index]].header[position[rings[index]]] != 0)
#define MAY_HAVE_NEXT (SENDER_LANES != known || HAS(0) || (ringCount > 1 && HAS(1)) || (ringCount > 2 && HAS(2)))

/* Sets found: a message; 0 if there is none. */
inline find(lanes) {
  lanes_now = lanes;
  d_step { /* add */
    if
    :: (lanes_now & ~known) & 1 -> rings[ringCount] = 1; ringCount++
    :: else
    fi;
    if
    :: (lanes_now & ~known) & 2 -> rings[ringCount] = 2; ringCount++
    :: else
    fi;
    known = lanes_now; lanes_now = 0; rest = ringCount
  }
  do
  :: rest == 0 -> break
  :: else ->
    turn = (turn + 1) % ringCount; /* nextInTurn */
    found = ring[rings[turn]].header[position[rings[turn]]];
    if
    :: found -> break
    :: else -> rest--
    fi
  od;
  rest = 0
}

proctype Receiver() {
  byte found, rest, lanes_now, received, next[SENDERS + 1];
  bit ended, looks;
  do
#ifdef NO_WAKE
  :: MAY_HAVE_NEXT || looks < 1 ->
#else
  :: MAY_HAVE_NEXT || isAtEnd || looks < 1 ->
#endif
    d_step {
      if
      :: MAY_HAVE_NEXT || isAtEnd
      :: else -> looks++ /* also without a reason, once */
      fi
    }
    find(SENDER_LANES); /* isReady */
#ifndef NO_SECOND_CHECK
    if
    :: !found && isAtEnd ->
      ended = 1;
#ifdef OLD_LANES
      find(known)
#else
      find(SENDER_LANES)
#endif
    :: else
    fi;
#else
    ended = (!found && isAtEnd);
#endif
    if
    :: found ->
      d_step {
        assert((found - 1) >> 2 == next[(found - 1) & 3]);
        next[(found - 1) & 3]++;
        position[rings[turn]]++;
        received++; found = 0; ended = 0
      }
    :: !found && ended -> break
    :: else
    fi
  od;
#ifdef HALF
  atomic { assert(received == returned + firstSent); reportedEnd = 1 }
#else
  atomic { assert(received == TOTAL); reportedEnd = 1 }
#endif
}

init {
  byte i;
  atomic {
    for (i : 0 .. SENDERS - 1) { run Sender(i) }
#ifdef HALF
    run Closer(); run Receiver(); i = 0
#else
    run Closer(); run Endpoint(); run Receiver(); i = 0
#endif
  }
}

ltl reported { <> reportedEnd }
