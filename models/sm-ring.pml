/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The records of one ring of sm: docs/protocol-sm.md, "The ring" and "Sending and receiving". Names are those of
 * RecordWriter (tryWrite, reserveRecord, makeRoom, fitsInOneGap, fitsOneByOne, moveTo, claim, stageClaim, abortClaim,
 * stage, publishRecords, storeEndMarkerAhead), SmSender.isReady, RecordReader (next, pollInline, clear), RingConsumer
 * (hold, endHold, acknowledge) and SmReceiveRegion. Sizes and positions are in words of 8 bytes. The ring has been in use
 * up to any position (START: up to that one): it is full of old headers. The sender's plain stores become visible in any
 * order. Its publishing store becomes visible after the stores before it; later loads and plain stores may overtake it.
 *
 * Proved: each message is received once, in order and complete; its payload does not change while the program reads or
 * holds it; the program's bytes in a claimed region do not change; no check of the receiver or of CONSUMED fails; neither
 * side waits forever, also if the first held message is freed last (HOLD). If a wait for room is refused, the program has
 * claims.
 *
 * Bounds: N messages of 1 or 2 words in a ring of R = 8; with R = 16 (records of R / 8, as in the code) REGIONS in
 * private memory. A poll acknowledges after half of the ring, in the code after an eighth; MANY is 2.
 *
 * One step: the sender's computations with its stores, which become visible later, one by one; a check by the receiver of
 * a message's payload; clearing the records of a poll.
 *
 * Left out: payload lines and the release ring (a message in lines is a record of one word here); sleeping and waking, which
 * are one step with the store of CONSUMED or HELD (sm-room); delayed stores of the receiver: all that follow a store in
 * another order are releases.
 *
 * RingConsumer.acknowledge wakes the sender only if CONSUMED changes; RingConsumer.endHold does so also if only HELD
 * changes. Otherwise (NO_WAKE), a sender that waits with several claims for the room behind the record named by HELD is
 * not woken.
 *
 * prove safety N=4
 * prove safety N=5 START=6
 * prove safety N=5 START=6 HOLD=1
 * prove safety N=4 START=5 BATCH=1
 * prove safety N=3 START=5 BATCH=1 CLAIM=1
 * prove safety R=16 N=3 START=13 REGIONS=6
 * prove all_received N=3 START=6
 * refute safety R=16 N=3 START=13 REGIONS=6 NO_WAKE=1: invalid end state
 * refute safety N=3 START=6 NO_RELEASE=1: assertion violated
 * refute safety N=3 START=6 NO_MARK=1: assertion violated
 * refute safety N=5 START=6 NO_HELD=1: assertion violated
 * refute safety N=5 START=6 HELD_FIRST=1: assertion violated
 * refute safety N=5 START=6 FULL_RING=1: invalid end state
 * refute safety N=5 START=6 CLEAR_LATE=1: invalid end state
 * refute all_received R=16 N=3 START=13 REGIONS=6 NO_WAKE=1: acceptance cycle
 * refute all_received N=5 START=6 FULL_RING=1: acceptance cycle
 */
#ifndef R
#define R 8 /* words for records; RingLayout.capacity */
#endif
#ifndef MAX
#define MAX 2 /* words of the longest record */
#endif
#ifndef N
#define N 5 /* messages */
#endif
#ifndef MANY
#define MANY 2 /* RecordReader.MANY */
#endif
#define MASK (R - 1)
#define NONE 255
#define HEADER 1

/* A word of the ring: 2 bits type. RecordHeader: of a message 3 bits size of the record, 3 bits number; padding: size. */
#define EMPTY 0
#define INLINE(size, number) (1 | (size) << 2 | ((number) % 7) << 5)
#define PADDING(size) (3 | (size) << 2)
#define PAYLOAD(number) (2 | ((number) % 7) << 5)
#define CLAIMED (2 | 7 << 2) /* what the program has written into a claimed region */
#define STALE INLINE(2, 6) /* an earlier lap's */
#define TYPE(word) ((word) & 3)
#define SIZE(word) (((word) >> 2) & 7)
#define PADDING_SIZE(word) ((word) >> 2)
#define IF(condition, a, b) ((condition) * (a) + !(condition) * (b)) /* of a condition that is 0 or 1 */

byte ring[R], CONSUMED, heldOffset, heldSize; /* heldSize 0: HELD is 0 */
bit SENDER_ASLEEP;

/* stores of the sender that are not yet visible: plain ones, one value for each word; and one release store, which becomes
   visible behind the plain ones before it */
byte store[R], releaseAt = NONE, releaseValue;
short pending, before;

inline plain(position, value) {
  store[(position) & MASK] = value;
  pending = pending | 1 << ((position) & MASK)
}

#define VISIBLE(i) :: d_step { (pending & 1 << i) -> ring[i] = store[i]; store[i] = 0; \
    pending = pending & ~(1 << i); before = before & ~(1 << i) }

proctype StoreBuffer() {
end_idle:
  do
  VISIBLE(0) VISIBLE(1) VISIBLE(2) VISIBLE(3) VISIBLE(4) VISIBLE(5) VISIBLE(6) VISIBLE(7)
#if R == 16
  VISIBLE(8) VISIBLE(9) VISIBLE(10) VISIBLE(11) VISIBLE(12) VISIBLE(13) VISIBLE(14) VISIBLE(15)
#endif
  :: d_step { releaseAt != NONE && before == 0 -> ring[releaseAt] = releaseValue; releaseAt = NONE; releaseValue = 0 }
  od
}

/* ---- The sender: RecordWriter; local computations are one step ---- */

#define RESERVED_AND_CLAIMED (reserved + 2 * claimedSize)
#define PUBLISHED IF(first == NONE, tail, first)
#ifdef FULL_RING
#define ROOM_END (consumed + R + HEADER)
#else
#define ROOM_END (consumed + R)
#endif
#define NEXT(offset, position) ((position) + (((offset) - (position)) & MASK))

/* Sets to: the next barrier, at or behind a position. */
inline barrier(at) {
  to = (at | MASK) + 1;
  if
  :: heldBytes && NEXT(held, at) < to -> to = NEXT(held, at)
  :: else
  fi;
  if
  :: claimed != NONE && NEXT(claimed, at) < to -> to = NEXT(claimed, at)
  :: else
  fi
}

/* Sets skipped: what a record must skip at barrier to. */
inline barrierSize() {
  if
  :: (to & MASK) == claimed -> skipped = claimedSize
  :: (to & MASK) != claimed && heldBytes && (to & MASK) == held -> skipped = heldBytes
  :: else -> skipped = 0
  fi
}

inline setLimit() {
  barrier(tail);
  limit = IF(ROOM_END - HEADER < to, ROOM_END - HEADER, to);
  to = 0
}

#define CONTIGUOUS IF(claimed == (tail & MASK), limitBefore, limit)
#define VIEW(position) IF((pending >> ((position) & MASK)) & 1, store[(position) & MASK], ring[(position) & MASK])

inline addHeader(at, header) {
  if
  :: first == NONE -> first = at; firstHeader = header
  :: else -> plain(at, header)
  fi
}

inline moveTo(needed) {
  from = tail;
  barrier(from);
  do
  :: from + needed > to ->
    barrierSize();
    if
    :: from < to -> addHeader(from, PADDING(to - from))
    :: else
    fi;
    if
    :: skipped -> addHeader(to, PADDING(skipped))
    :: else
    fi;
    from = to + skipped;
    barrier(from)
  :: else -> break
  od;
  tail = from; endMarkerDistance = 0; from = 0; to = 0; skipped = 0
}

inline readConsumed() {
#ifdef HELD_FIRST
  d_step { held = heldOffset; heldBytes = heldSize }
#endif
  d_step { assert(consumed <= CONSUMED && CONSUMED <= PUBLISHED); consumed = CONSUMED }
#ifndef HELD_FIRST
  d_step { held = heldOffset; heldBytes = heldSize }
#endif
}

inline fitsInOneGap(bytes) {
  from = tail;
  barrier(from);
  do
  :: from + bytes > to && from < ROOM_END -> barrierSize(); from = to + skipped; barrier(from)
  :: else -> break
  od;
  fits = (from + bytes + HEADER <= ROOM_END); from = 0; to = 0; skipped = 0
}

inline fitsOneByOne(wanted) {
  lost = wanted;
  if
  :: longest > lost -> lost = longest
  :: else
  fi;
  if
  :: claimedSize > lost -> lost = claimedSize
  :: else
  fi;
  lost = lost - HEADER;
  sum = tail + RESERVED_AND_CLAIMED + wanted + HEADER;
  from = tail;
  barrier(from);
  do
  :: to < ROOM_END -> barrierSize(); sum = sum + lost + skipped; from = to + skipped; barrier(from)
  :: else -> break
  od;
  fits = (sum <= ROOM_END); from = 0; to = 0; sum = 0; lost = 0; skipped = 0
}

inline reserveRecord(wanted) {
  d_step { directLimit = 0; fits = !(tail + RESERVED_AND_CLAIMED + wanted > CONTIGUOUS) }
  if
  :: fits
  :: else -> /* makeRoom */
    readConsumed();
    d_step {
      fitsInOneGap(RESERVED_AND_CLAIMED + wanted);
      if
      :: !fits -> fitsOneByOne(wanted)
      :: else
      fi;
      if
      :: fits && RESERVED_AND_CLAIMED == 0 -> moveTo(wanted)
      :: else
      fi;
      setLimit()
    }
  fi;
  d_step {
    if
    :: fits ->
      if
      :: reserved == 0 || wanted > longest -> longest = wanted
      :: else
      fi;
      reserved = reserved + wanted
    :: else
    fi
  }
}

inline payload(value, words) {
  from = 1;
  do
  :: from < words -> plain(tail + from, value); from++
  :: else -> break
  od;
  from = 0
}

inline stagedOne(words) {
  addHeader(tail, INLINE(words, staged));
  tail = tail + words; messagesUnpublished++; staged++
}

inline stage(words) {
  if
  :: tail + words > limit -> moveTo(words); setLimit()
  :: else
  fi;
  endMarkerDistance = 0;
  payload(PAYLOAD(staged), words);
  stagedOne(words)
}

inline abortClaim() { claimed = NONE; claimedSize = 0; limit = limitBefore; limitBefore = 0 }

inline storeRelease(position, header) {
  releaseAt = (position) & MASK; releaseValue = header;
#ifndef NO_RELEASE
  before = pending
#endif
}

inline publishRecords() {
  d_step {
    releaseAt == NONE ->
    if
    :: first != NONE ->
#ifndef NO_MARK
      if
      :: endMarkerDistance == 0 || first + endMarkerDistance != tail -> plain(tail, EMPTY)
      :: else
      fi;
#endif
      storeRelease(first, firstHeader);
      endMarkerDistance = IF(messagesUnpublished == 1 && tail + tail - first <= limit, tail - first, 0);
      first = NONE; firstHeader = 0
    :: else
    fi;
    messagesUnpublished = 0;
    if
    :: reserved == 0 && claimedSize == 0 -> directLimit = limit
    :: else
    fi;
    if /* storeEndMarkerAhead */
    :: endMarkerDistance -> plain(tail + endMarkerDistance, EMPTY)
    :: else
    fi
  }
}

inline flush() {
  if
  :: messagesUnpublished -> publishRecords()
  :: else
  fi
}

/* AbstractSender.reserveOrWait, SmSender.isReady; refused: an IllegalStateException, all is claimed by the program. */
inline reserveOrWait(wanted) {
  reserveRecord(wanted);
  if
  :: fits
  :: else ->
    flush();
    do
    :: pending == 0 && releaseAt == NONE -> /* a fence, see sm-room */
      SENDER_ASLEEP = 1;
      reserveRecord(wanted);
      if
      :: fits -> break
      :: else ->
        readConsumed(); /* hasUnreleasedRecords */
        if
        :: PUBLISHED != consumed || heldBytes -> SENDER_ASLEEP == 0
        :: else ->
          reserveRecord(wanted);
          assert(fits || regions || claimedSize);
          break
        fi
      fi
    od;
    SENDER_ASLEEP = 0
  fi
}

proctype Sender(byte tail) {
  byte limit, directLimit, reserved, longest, consumed = tail, held, heldBytes, endMarkerDistance;
  byte claimed = NONE, claimedSize, limitBefore, first = NONE, firstHeader, messagesUnpublished;
  byte staged; /* messages; also the next one's number */
  bool fits;
  byte from, to, sum, skipped, lost, size, regions;
  d_step { setLimit(); directLimit = limit }
  do
  :: staged < N ->
    if
    :: size = 1
    :: size = 2
#if MAX == 3
    :: size = 3
#endif
    fi;
    if
    :: tail + 2 * size <= directLimit -> /* tryWrite */
      d_step {
        if
        :: size != endMarkerDistance -> plain(tail + size, EMPTY); endMarkerDistance = size
        :: else
        fi;
        payload(PAYLOAD(staged), size)
      }
      d_step {
        releaseAt == NONE -> storeRelease(tail, INLINE(size, staged)); tail = tail + size; staged++;
        plain(tail + endMarkerDistance, EMPTY)
      }
    :: else -> /* sendInSteps */
      reserveOrWait(size);
      if
      :: fits -> d_step { stage(size); reserved = reserved - size } publishRecords()
      :: else
      fi
#ifdef BATCH
    :: tail + size <= limit && !reserved && !claimedSize -> /* tryStage */
      d_step { stage(size); directLimit = 0 }
    :: !(tail + size <= limit && !reserved && !claimedSize) -> /* stageInSteps */
      reserveOrWait(size);
      if
      :: fits -> d_step { stage(size); reserved = reserved - size }
      :: else
      fi
#endif
#ifdef CLAIM
    :: !reserved && !claimedSize -> /* claim */
      fits = (tail + 2 * size <= limit);
      if
      :: fits
      :: else -> /* makeRoomTwice */
        readConsumed();
        d_step {
          fitsInOneGap(2 * size);
          if
          :: fits -> moveTo(size)
          :: else
          fi;
          setLimit()
        }
      fi;
      d_step {
        if
        :: fits ->
          directLimit = 0;
          if
          :: endMarkerDistance < size || first != NONE -> endMarkerDistance = 0
          :: else
          fi;
          claimed = tail & MASK; claimedSize = size; limitBefore = limit; limit = tail;
          payload(CLAIMED, size) /* the program writes there */
        :: else
        fi
      }
#endif
#ifdef REGIONS
    :: regions < REGIONS -> /* claims a region in private memory */
      size = MAX;
      reserveOrWait(size);
      if
      :: fits -> regions++
      :: else
      fi
#endif
    fi;
    size = 0
#ifdef CLAIM
  :: claimedSize && staged < N -> /* stageClaim */
    d_step {
      if
      :: (tail & MASK) == claimed -> payload(PAYLOAD(staged), claimedSize); stagedOne(claimedSize)
      :: else ->
        from = 1;
        do
        :: from < claimedSize -> assert(VIEW(claimed + from) == CLAIMED); from++
        :: else -> break
        od;
        stage(claimedSize)
      fi;
      abortClaim()
    }
    publishRecords()
  :: claimedSize && staged == N -> d_step { abortClaim() }
#endif
#ifdef REGIONS
  :: regions && staged < N ->
    d_step { stage(MAX); reserved = reserved - MAX; regions-- }
    publishRecords()
  :: regions && staged == N -> d_step { reserved = reserved - MAX; regions-- }
#endif
  :: messagesUnpublished -> publishRecords()
  :: staged == N && !claimedSize && !regions && !messagesUnpublished -> break
  od
}

/* ---- The receiver: RecordReader, RingConsumer, SmReceiver, SmReceiveRegion ---- */

byte received; /* messages */
ltl all_received { <> (received == N) }

/* The payload of a record at a position is that of a message. */
inline check(at, words, number) {
  d_step {
    i = 1;
    do
    :: i < words -> assert(ring[((at) + i) & MASK] == PAYLOAD(number)); i++
    :: else -> break
    od;
    i = 0
  }
}

inline acknowledge() {
  now = position;
  if
  :: heldAt != NONE && !heldPublished ->
    if
    :: now == heldAt + heldLength -> now = heldAt
#ifdef NO_HELD
    :: else
#else
    :: else -> d_step { heldOffset = heldAt & MASK; heldSize = heldLength; heldPublished = 1 }
#endif
    fi
  :: else
  fi;
  d_step {
    if
    :: now != acknowledged -> acknowledged = now; CONSUMED = now; SENDER_ASLEEP = 0 /* wake, see sm-room */
    :: else
    fi;
    now = 0
  }
}

inline checkRecord() {
  assert(TYPE(word) == 1 && SIZE(word) <= MAX && (position & MASK) + SIZE(word) <= R);
  assert(word == INLINE(SIZE(word), received))
}

inline nextRecord() {
  do
  :: atomic {
      word = ring[position & MASK];
      if
      :: TYPE(word) == 3 -> assert((position & MASK) + PADDING_SIZE(word) <= R); position = position + PADDING_SIZE(word)
      :: else
      fi
    }
    if
    :: TYPE(word) == 3
    :: TYPE(word) != 3 && word != EMPTY -> checkRecord(); break
    :: word == EMPTY -> acknowledge(); break
    fi
  od
}

proctype Receiver(byte position) {
  byte acknowledged = position, heldAt = NONE, heldLength, heldNumber;
  bit heldPublished;
  byte word, i, now, start, count;
  do
  :: ring[position & MASK] != EMPTY -> /* receive */
    nextRecord();
    if
    :: word != EMPTY ->
      check(position, SIZE(word), received);
      if
      :: heldAt == NONE -> d_step { heldAt = position; heldLength = SIZE(word); heldNumber = received }
      :: else -> check(position, SIZE(word), received) /* is being copied */
      fi;
      d_step { position = position + SIZE(word); received++; word = 0 }
      acknowledge()
    :: else
    fi
  :: ring[position & MASK] != EMPTY -> /* poll */
    start = position;
    do
    :: position < start + R / 2 ->
      word = ring[position & MASK];
      if
      :: TYPE(word) == 3 || word == EMPTY -> break
      :: else ->
        checkRecord();
        check(position, SIZE(word), received);
        check(position, SIZE(word), received); /* at the end of the handler */
        d_step { position = position + SIZE(word); received++; count++ }
      fi
    :: else -> break
    od;
#ifdef CLEAR_LATE
    acknowledge();
#endif
    atomic {
      if
      :: count >= MANY -> /* clear */
        do
        :: start < position -> ring[start & MASK] = EMPTY; start++
        :: else -> break
        od
      :: else
      fi;
      count = 0; start = 0
    }
    acknowledge();
    if
    :: word != EMPTY -> nextRecord()
    :: else
    fi;
    word = 0
#ifdef HOLD
  :: heldAt != NONE && received == N -> /* free */
#else
  :: heldAt != NONE -> /* free */
#endif
    check(heldAt, heldLength, heldNumber);
    d_step { heldAt = NONE; heldLength = 0; heldNumber = 0 }
    if
    :: heldPublished -> d_step { heldOffset = 0; heldSize = 0; heldPublished = 0 }
    :: else
    fi;
#ifndef NO_WAKE
    SENDER_ASLEEP = 0;
#endif
    acknowledge()
  :: received == N && heldAt == NONE -> break
  od
}

/* A ring that has been in use: all is consumed up to some position; old headers are everywhere, and 0 only at the end. */
init {
  byte i;
  atomic {
#ifdef START
    i = START;
#else
    do
    :: i < R - 1 -> i++
    :: break
    od;
#endif
    CONSUMED = i;
    for (i : 0 .. R - 1) { ring[i] = IF(i == CONSUMED, EMPTY, STALE) }
    i = 0;
    run StoreBuffer(); run Sender(CONSUMED); run Receiver(CONSUMED)
  }
}
