/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * One ring of magicring, as in docs/protocol-magicring.md, "Messages", "Acknowledgments" and "The plain ring": RingSpace and
 * RingSends at the sender, RingMessages and RingChannel at the receiver, RingCursor at both. A claim reserves room;
 * claims are sent in any order, shorter than claimed, or aborted; messages are freed in any order.
 *
 * Proved: no byte of a message is overwritten before the message is freed; both sides compute the same place of each
 * message, inside the mapping; neither side refuses a message or a number of the other; a claim that waits gets room if
 * the receiver frees everything, without the tick of the event loop, and even if no acknowledgment is due by a quarter
 * of the window or of the ring.
 *
 * Bounds: rings of 3 to 6 units, messages of 1 to 3, windows of 2 and 3, two claims. A unit is RingCursor.ALIGNMENT
 * bytes. Positions count modulo POSITIONS, messages modulo NUMBERS and WANTs modulo 2, so all of them overflow.
 *
 * Merged steps: those of the receiver, which magicring-frees.pml splits; without SPLIT also those of the sender's two
 * threads. A WRITE or SEND arrives when it is posted: a queue pair keeps their order, and polls may be late.
 * Left out: the other direction, the posted receives (RNR) and GOODBYE (magicring-duplex.pml); the limit of 8 control
 * messages in flight, beyond which the tick sends the owed acknowledgment; several senders that wait; how a thread sleeps
 * (ReceiveQueue.arm).
 *
 * prove safety
 * prove safety SIZE=4 WINDOW=3 LONGEST=2
 * prove safety SIZE=6 PLAIN=1
 * prove safety SPLIT=1 SIZE=3 LONGEST=2
 * prove unblocked SIZE=3 LONGEST=2
 * refute safety ACK_AT_ARRIVAL=1: assertion violated
 * refute safety FREE_PAST_HELD=1: assertion violated
 * refute safety ONE_OUTSTANDING_MORE=1: assertion violated
 * refute safety ONE_UNIT_MORE=1: assertion violated
 * refute safety SIZE=4 WINDOW=3 LONGEST=2 POSITIONS=SIZE: assertion violated
 * refute safety SIZE=6 PLAIN=1 OFFSET_AT_END=1: assertion violated
 * refute safety SIZE=6 PLAIN=1 NO_WORST_CASE=1: assertion violated
 * refute safety NO_WANT=1: invalid end state
 * refute unblocked NO_WANT=1 SIZE=3 LONGEST=2: acceptance cycle
 */
#ifndef SIZE
#define SIZE 5
#endif
#ifndef WINDOW
#define WINDOW 2
#endif
#ifndef LONGEST
#define LONGEST 3
#endif
#ifndef POSITIONS
#define POSITIONS (2 * SIZE) /* more than SIZE, so that a full ring differs from an empty one */
#endif

#if WINDOW == 2
#define SLOTS 2
#else
#define SLOTS 4
#endif
#define NUMBERS 4 /* a multiple of SLOTS, more than WINDOW */
#define CLAIMS 2
#define UNUSED 255 /* an entry of ends that must not be read */

#ifdef SPLIT
#define merged
#else
#define merged atomic
#endif
#define minus(a, b, modulus) ((modulus + a - b) % modulus)

#ifdef ONE_OUTSTANDING_MORE
#define MOST (WINDOW + 1)
#else
#define MOST WINDOW
#endif
#ifdef ONE_UNIT_MORE
#define ROOM (SIZE + 1)
#else
#define ROOM SIZE
#endif

/* RingCursor and Mapping; an empty message takes a unit, so lengths start at 1 */
#ifdef PLAIN
#define paddingFor(tail, length) (length > SIZE - tail.offset -> SIZE - tail.offset : 0)
#ifdef NO_WORST_CASE
#define worstCase(length) (length)
#else
#define worstCase(length) (2 * (length) - 1)
#endif
#define MAPPED SIZE
#else
#define paddingFor(tail, length) 0
#define worstCase(length) (length)
#define MAPPED (2 * SIZE)
#endif
#ifdef OFFSET_AT_END
#define SEAM (SIZE + 1)
#else
#define SEAM SIZE
#endif
typedef RingCursor { byte position; byte offset }
inline advance(cursor, start) { /* by length */
  start = (paddingFor(cursor, length) > 0 -> 0 : cursor.offset);
  cursor.position = (cursor.position + paddingFor(cursor, length) + length) % POSITIONS;
  cursor.offset = (start + length >= SEAM -> start + length - SIZE : start + length)
}

typedef RingSpace {
  RingCursor tail;
  byte ends[SLOTS];
  byte reservedMessages, reservedBytes;
  bit lacksSpace;
  bit wantsSent, wantsTaken; /* modulo 2: at most one is in flight */
  bit ackedSinceWant = 1; /* ackedMessages > ackedAtWant, which is -1 at first */
  byte sent, ackedMessages, ackedBytes
}
#define EMPTY 0
#define HELD 1
#define FREED 2
typedef RingMessages {
  RingCursor tail;
  byte offsets[SLOTS], ends[SLOTS];
  byte states[SLOTS];
  byte messagesArrived, freedMessages, acknowledgedMessages, acknowledgedBytes;
  bit wantsTaken, wanted
}
RingSpace space;
RingMessages messages;
byte ring[SIZE]; /* for each unit, the slot of the message whose bytes it contains, plus 1; 0 after the message is freed */
byte lengths[SLOTS];
bit lock;          /* of the send queue at the sender */
bit waiting, woken; /* a claim waits; onProgress was called since it last looked */
mtype = { MESSAGE, WANT }
chan completions = [WINDOW + 2] of { mtype, byte }; /* at the receiver */
chan acknowledgments = [WINDOW + 1] of { byte, byte, bit }; /* at the sender: messages, bytes, WANTs */

/* RingSpace.tryReserve, under the lock. Each load of what the polling thread stores is in a step of its own. */
inline tryReserve() {
  if
  :: minus(space.sent, space.ackedMessages, NUMBERS) + space.reservedMessages < MOST ->
    d_step {
      room = ((space.reservedBytes == 0 -> paddingFor(space.tail, length) + length
        : space.reservedBytes + worstCase(length)) <= ROOM - minus(space.tail.position, space.ackedBytes, POSITIONS));
      if
      :: room -> space.reservedMessages++; space.reservedBytes = space.reservedBytes + worstCase(length)
      :: else
      fi
    }
  :: else
  fi;
  if
  :: room
  :: else ->
    lacks = (space.ackedMessages != space.sent); /* !isAllBack() */
    if
    :: lacks != space.lacksSpace -> space.lacksSpace = lacks
    :: else
    fi
  fi
}

inline unreserve(reserved) {
  space.reservedMessages--;
  space.reservedBytes = space.reservedBytes - worstCase(reserved);
  reserved = 0
}

/* RingSpace.place, and the WRITE */
inline place(reserved) {
  unreserve(reserved);
  advance(space.tail, offset);
  space.ends[space.sent % SLOTS] = space.tail.position;
  assert(offset < SIZE && offset + length <= MAPPED);
  unit = 0;
  do
  :: unit < length ->
    assert(ring[(offset + unit) % SIZE] == 0); /* the second mapping is the same memory */
    ring[(offset + unit) % SIZE] = space.sent % SLOTS + 1;
    unit++
  :: else -> break
  od;
  space.sent = (space.sent + 1) % NUMBERS;
  completions!MESSAGE(length);
  offset = 0; unit = 0
}

#ifdef NO_WANT
#define isWantDue() false
#else
#define isWantDue() (space.lacksSpace && space.wantsSent == space.wantsTaken && space.ackedSinceWant)
#endif
/* ControlMessages.sendReport at the sender, RingSends.prepareReport */
inline sendWant() {
  if
  :: atomic { !lock && isWantDue() -> lock = 1 }
    atomic { /* even if an acknowledgment has arrived just now */
      space.ackedSinceWant = 0;
      space.wantsSent = 1 - space.wantsSent;
      completions!WANT(0);
      lock = 0
    }
  :: atomic { !lock && !isWantDue() -> skip }
  fi
}

active proctype Sending() {
  byte claims[CLAIMS], claim, length, offset, unit;
  bool room, lacks;
  do
  :: atomic { claims[0] == 0 || claims[1] == 0 ->
      claim = (claims[0] == 0 -> 0 : 1);
      select (length : 1 .. LONGEST);
      waiting = 1; woken = 1
    }
    do
    :: merged {
        atomic { !lock && woken -> woken = 0; lock = 1 }
        tryReserve();
        if
        :: !room && space.ackedMessages == space.sent -> /* SendQueue.findCause: the peer has returned everything */
          tryReserve();
          lacks = !room
        :: else -> lacks = false
        fi;
        lock = 0;
        if
        :: room -> claims[claim] = length; break
        :: lacks -> assert(claims[1 - claim] > 0); break /* HELD: an exception, as this program has claimed all of it */
        :: else -> sendWant()
        fi
      }
    od;
    atomic { waiting = 0; claim = 0; length = 0; room = 0; lacks = 0; woken = 0 }
  :: atomic { !lock && claims[0] + claims[1] > 0 ->
      if
      :: claims[0] > 0 -> claim = 0
      :: claims[1] > 0 -> claim = 1
      fi;
      if
      :: select (length : 1 .. claims[claim]); place(claims[claim])
      :: unreserve(claims[claim])
      fi;
      claim = 0; length = 0
    }
  od
}

/* The thread that polls at the sender: RingChannel.received, RingSpace.takeAck and takeWants, Channel.afterPoll. */
active proctype Polling() {
  byte acked, bytes;
  bit wants;
end_polling:
  do
  :: merged {
      atomic { acknowledgments?acked, bytes, wants ->
        assert(acked != space.ackedMessages &&
          minus(acked, space.ackedMessages, NUMBERS) <= minus(space.sent, space.ackedMessages, NUMBERS));
        assert(bytes == space.ends[minus(acked, 1, NUMBERS) % SLOTS]);
        assert(wants == space.wantsTaken || space.wantsTaken != space.wantsSent);
        space.lacksSpace = 0
      }
      space.ackedBytes = bytes;
      atomic {
        do
        :: space.ackedMessages != acked ->
          space.ends[space.ackedMessages % SLOTS] = UNUSED;
          space.ackedMessages = (space.ackedMessages + 1) % NUMBERS
        :: else -> break
        od;
        space.ackedSinceWant = 1
      }
      atomic { space.wantsTaken = wants; acked = 0; bytes = 0; wants = 0 }
    }
    sendWant();
    woken = 1 /* onProgress */
  od
}

#define isSenderStarving() (messages.wanted \
  || minus(messages.messagesArrived, messages.acknowledgedMessages, NUMBERS) >= WINDOW \
  || SIZE - minus(messages.tail.position, messages.acknowledgedBytes, POSITIONS) < worstCase(LONGEST))
/* RingMessages.isAckDue, and acknowledge with the SEND, where anything is owed; how often is the receiver's choice */
inline sendReport() {
  if
  :: messages.freedMessages != messages.acknowledgedMessages ->
    if
    :: !isSenderStarving() /* not due for that reason, but perhaps by a quarter, by acknowledge=each, or by the tick */
    :: messages.wanted = 0;
      messages.acknowledgedBytes = messages.ends[minus(messages.freedMessages, 1, NUMBERS) % SLOTS];
      do
      :: messages.acknowledgedMessages != messages.freedMessages ->
        messages.ends[messages.acknowledgedMessages % SLOTS] = UNUSED;
        messages.acknowledgedMessages = (messages.acknowledgedMessages + 1) % NUMBERS
      :: else -> break
      od;
      acknowledgments!messages.acknowledgedMessages, messages.acknowledgedBytes, messages.wantsTaken
    fi
  :: else
  fi
}

/* RingMessages.arrived */
inline arrived() {
  assert(minus(messages.messagesArrived, messages.acknowledgedMessages, NUMBERS) < WINDOW);
  assert(paddingFor(messages.tail, length) + length
    <= SIZE - minus(messages.tail.position, messages.acknowledgedBytes, POSITIONS));
  slot = messages.messagesArrived % SLOTS;
  assert(messages.states[slot] == EMPTY);
  advance(messages.tail, messages.offsets[slot]);
  messages.ends[slot] = messages.tail.position;
  messages.states[slot] = HELD;
  lengths[slot] = length;
  messages.messagesArrived = (messages.messagesArrived + 1) % NUMBERS;
#ifdef ACK_AT_ARRIVAL
  messages.freedMessages = messages.messagesArrived;
#endif
  slot = 0; length = 0
}

/* RingMessages.free */
inline free() {
  do
  :: unit < lengths[slot] -> /* all bytes that the program has read are of this message */
    assert(ring[(messages.offsets[slot] + unit) % SIZE] == slot + 1);
    ring[(messages.offsets[slot] + unit) % SIZE] = 0;
    unit++
  :: else -> break
  od;
  unit = 0;
  lengths[slot] = 0; messages.offsets[slot] = 0;
  messages.states[slot] = FREED;
#ifdef ACK_AT_ARRIVAL
  messages.states[slot] = EMPTY
#else
#ifdef FREE_PAST_HELD
  messages.states[slot] = EMPTY;
  messages.freedMessages = (messages.freedMessages + 1) % NUMBERS
#else
  do
  :: messages.states[messages.freedMessages % SLOTS] == FREED ->
    messages.states[messages.freedMessages % SLOTS] = EMPTY;
    messages.freedMessages = (messages.freedMessages + 1) % NUMBERS
  :: else -> break
  od
#endif
#endif
}

#define isHeld(number) (number < SLOTS && messages.states[(number) % SLOTS] == HELD)
/* The receiver polls, takes and frees in any order. It continues while it has messages, and frees all of them in the end. */
active proctype Receiving() {
  byte slot, length, unit;
end_receiving:
  do
  :: atomic { completions?MESSAGE, length -> arrived(); sendReport() }
  :: atomic { completions?WANT, _ ->
      messages.wantsTaken = 1 - messages.wantsTaken;
      messages.wanted = 1;
      sendReport()
    }
  :: atomic { isHeld(0) || isHeld(1) || isHeld(2) || isHeld(3) ->
      if
      :: isHeld(0) -> slot = 0
      :: isHeld(1) -> slot = 1
      :: isHeld(2) -> slot = 2
      :: isHeld(3) -> slot = 3
      fi;
      free(); sendReport(); slot = 0
    }
  od
}

ltl unblocked { [] (waiting -> <> !waiting) }
