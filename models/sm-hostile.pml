/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A receiver of sm with a hostile sender, which may store any value in any shared word at any time: docs/protocol-sm.md,
 * "Validation". Names are those of RecordReader (next, nextInline, nextInLines, isInline, pollInline, clear),
 * RecordChecks (checkPadding, checkLines), RingConsumer (hold, acknowledge), HeldRecord (isValid), ReceivedRings (poll,
 * find) and ReleaseEntry. As the sender may store before each load, each load of a shared word yields any value, whatever
 * an earlier one has yielded.
 *
 * Proved: each access to a header, to a payload, and each clearing is within the records or the payload lines, and a header is
 * aligned; HELD is a record that the sender's check accepts; a padded lap ends (next reads at most R / HEADER + 1 headers); in
 * every run each poll and each receive returns (returns), with messages, without, or with a CorruptRingException, after which
 * the ring is not used.
 *
 * One step: the loads of one header. There is no other process: the values that the loads yield represent what the sender
 * does.
 *
 * Bounds: a ring of R = 16 units with headers of HEADER = 2 units, so that lengths and sizes need not be aligned; LINES payload
 * lines of 2 units. Numbers of messages are unbounded: positions are counted from the last poll, modulo R.
 *
 * Left out: the 64-bit fields beyond R and LINES: a length or line has the values 0 to R + 3, which stand for all greater ones
 * (no check adds to a value that is not bounded yet), and a length of lines also the negative ones (here: BAD). Memory that
 * the sender maps is never unmapped or truncated (a sealed file). SENDER_LANES is one comparison (ReceivedRings.add).
 *
 * ReceivedRings.poll passes the message that next has found to the handler. If it read the header again in pollInline, a
 * sender that stores padding there each time in between could keep it in its loop (READ_AGAIN).
 *
 * prove safety
 * prove returns
 * refute returns READ_AGAIN=1: acceptance cycle
 * refute safety READ_TWICE=1: assertion violated
 * refute safety NO_LENGTH_CHECK=1: assertion violated
 * refute safety NO_END_CHECK=1: assertion violated
 * refute safety NO_USUAL_CHECK=1: assertion violated
 * refute safety NO_PADDING_CHECK=1: assertion violated
 * refute safety NO_LINE_CHECK=1: assertion violated
 * refute safety NO_SKIPPED_CHECK=1: assertion violated
 */
#define R 16
#define MASK (R - 1)
#define HEADER 2
#define INLINE_MAX 2
#define LINES 3
#define LINE 2
#define MAX_MESSAGE 6
#define LIMIT 3 /* messages of a poll */
#define MANY 2
#define RECORD_SIZE(length) (((length) + 2 * HEADER - 1) / HEADER * HEADER)

#ifdef NO_END_CHECK
#define IS_INLINE (length <= INLINE_MAX)
#elif defined(NO_LENGTH_CHECK)
#define IS_INLINE (length <= R && offset + HEADER <= R)
#else
#define IS_INLINE (length <= INLINE_MAX && offset + HEADER + length <= R)
#endif

mtype = { EMPTY, INLINE, IN_LINES, PADDING, INVALID /* any other type, or EMPTY with other bits */ };
bit inUse; /* a call of poll or receive is in progress */

inline loadLength() {
  if
  :: type == INLINE || type == PADDING -> select(length : 0 .. R + 3)
  :: type == IN_LINES -> select(length : 0 .. MAX_MESSAGE + 2); length = length - 1; /* also a negative one */
  :: else
  fi
}

/* Loads a header: any value. */
inline load() {
  assert(offset % HEADER == 0 && offset + HEADER <= R);
  atomic {
    if
    :: type = EMPTY
    :: type = INLINE
    :: type = IN_LINES; select(line : 0 .. LINES + 1)
    :: type = PADDING
    :: type = INVALID
    fi;
    loadLength()
  }
}

/* RecordReader.next: the type that was found; INVALID: a CorruptRingException. */
inline nextRecord() {
  skipped = 0; loads = 0;
  do
  :: offset = position & MASK;
    load();
    loads++;
    assert(loads <= R / HEADER + 1);
    if
    :: type == PADDING ->
#ifndef NO_PADDING_CHECK
      if
      :: length < HEADER || length % HEADER != 0 || length > R - offset -> type = INVALID; break
      :: else
      fi;
#endif
#ifndef NO_SKIPPED_CHECK
      if
      :: skipped + length > R -> type = INVALID; break
      :: else
      fi;
#endif
      skipped = skipped + length;
      position = (position + length) & MASK
    :: else -> break
    fi
  od;
  if
  :: type == INLINE && !IS_INLINE -> type = INVALID
  :: type == IN_LINES && (length < 0 || length > MAX_MESSAGE) -> type = INVALID
#ifndef NO_LINE_CHECK
  :: type == IN_LINES && length == 0 && line > LINES - 1 -> type = INVALID
  :: type == IN_LINES && length > 0 && line > LINES - (length + LINE - 1) / LINE -> type = INVALID
#endif
  :: else
  fi;
  skipped = 0; loads = 0
}

/* The program reads the message that nextRecord has found, in a handler or in a region; advance. */
inline take() {
  if
  :: type == INLINE ->
    size = RECORD_SIZE(length);
    assert(offset + HEADER + length <= R);
    /* hold: HeldRecord.isValid */
    assert(size >= HEADER && size <= RECORD_SIZE(INLINE_MAX) && size % HEADER == 0 && offset + size <= R)
  :: type == IN_LINES ->
    size = HEADER;
    assert(line * LINE + length <= LINES * LINE);
    assert(line < LINES) /* release */
  fi;
  position = (position + size) & MASK;
  size = 0
}

/* RecordReader.pollInline; type: the last header; INLINE: a limit was reached. */
inline pollInline() {
  consumed = 0; count = 0; type = INLINE;
  size = RECORD_SIZE(usual);
  do
  :: polled + count < LIMIT && consumed < R / 8 ->
    offset = (position + consumed) & MASK;
    load();
    if
#ifdef NO_USUAL_CHECK
    :: type == INLINE && length == usual
#else
    :: type == INLINE && length == usual && offset + size <= R
#endif
    :: else ->
      if
      :: type != INLINE -> break
      :: else
      fi;
      if
      :: !IS_INLINE -> type = INVALID; break
      :: else
      fi;
#ifdef READ_TWICE
      loadLength();
#endif
      usual = length; size = RECORD_SIZE(length)
    fi;
    consumed = consumed + size; count++;
    assert(offset + HEADER + usual <= R) /* the handler reads it */
  :: else -> break
  od;
  /* clear: from the first offset on, and what is behind the end, from 0 on */
  assert(count < MANY || consumed <= R);
  position = (position + consumed) & MASK;
  polled = polled + count;
  consumed = 0; count = 0; size = 0
}

active proctype Receiver() {
  short length;
  byte position, offset, line, skipped, loads, size, usual, consumed, count, polled;
  mtype type;
  do
  :: inUse = 1; /* receive */
    nextRecord();
    if
    :: type == INLINE || type == IN_LINES -> take()
    :: type == INVALID -> break
    :: type == EMPTY
    fi;
    length = 0; line = 0; offset = 0;
    inUse = 0
  :: inUse = 1; /* poll */
    do
    :: polled < LIMIT ->
      pollInline();
      if
      :: type == EMPTY || type == INVALID -> break
      :: else
      fi;
      if
      :: polled < LIMIT ->
        nextRecord();
        if
        :: type == EMPTY || type == INVALID -> break
#ifdef READ_AGAIN
        :: type == INLINE
#else
        :: type == INLINE -> take(); polled++
#endif
        :: type == IN_LINES -> take(); polled++
        fi
      :: else
      fi
    :: else -> break
    od;
    polled = 0; length = 0; line = 0; offset = 0;
    if
    :: type == INVALID -> break
    :: else
    fi;
    inUse = 0
  od;
  inUse = 0
}

ltl returns { [] (inUse -> <> !inUse) }
