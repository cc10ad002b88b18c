/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sleep and wake-up of a sender of the provider sm that waits for room: docs/protocol-sm.md, "Waking up" and "Sending and
 * receiving". A thread is in SmSender.send; the receiver of its ring gives room back. Models SmSender.isReady,
 * RingProducer.armSleep, SleepFlag.arm and wake, Waiter.sleep and wake, the end of RingConsumer.acknowledge, endHold and
 * release, and the endpoint's thread, which a WAKEUP reaches by the FIFO. Each ring has a flag of its own.
 *
 * Room is counted in two words, each with room for one message at a time: ROOM[0] is CONSUMED, ROOM[1] is RELEASES or
 * HELD. A message takes room of the first, or of both. The receiver gives it back in any order, by stores to one word or
 * to both before it looks at the flag.
 *
 * Memory: as in sm-sleep.pml, a store is visible to other threads when it leaves its thread's buffer, at any time up to
 * the next fence of the thread; the stores to one word leave in order, those to different words in any order. membarrier(2)
 * empties the receiver's buffer once, at any time during the call.
 *
 * Proved: all messages are sent; an interrupt and a close end the wait, also if the receiver gives no more room back
 * (STOPS); a send does not fail by "all buffer space is claimed" if the program has no claims; at rest, the flag is
 * set if and only if the sender sleeps. The bounds are 3 messages, 4 with a reliable membarrier, and 2 with an interrupt
 * or a close. The number of sleeps is not bounded.
 * Left out: how room is computed (sm-ring); a full FIFO, and headers of other connections (sm-fifo); a receiver that
 * sleeps (sm-sleep), or stops forever while it gives room back; the timeout of a send.
 *
 * The sender stores the same number for each sleep, as the receiver clears the flag before it writes the WAKEUP. In the
 * other order (WAKE_FIRST), it may clear the flag of the next sleep. Before the thread parks for long, Waiter.sleep looks
 * whether it was woken since it stored the flag, and whether the flag is still set. Without both (BLOCK_AT_ONCE), a
 * wake-up that ended the wait for the second check is lost. Here either is sufficient; a receiver requires woken (sm-fifo).
 *
 * OMITS: membarrier(2) may omit the receiver, whose stores are visible by the time of the second check. With fences, which
 * a program with readiness requires, no second check is needed (NO_SECOND_CHECK). Readiness itself is not modelled.
 *
 * prove safety MESSAGES=4
 * prove safety OMITS=1
 * prove safety FENCES=1
 * prove safety FENCES=1 NO_SECOND_CHECK=1
 * prove safety MESSAGES=2 OMITS=1 INTERRUPT=1 STOPS=1
 * prove safety MESSAGES=2 OMITS=1 CLOSE=1 STOPS=1
 * prove sent
 * prove ended MESSAGES=2 INTERRUPT=1 STOPS=1
 * prove ended MESSAGES=2 CLOSE=1 STOPS=1
 * prove ended FENCES=1 MESSAGES=2 INTERRUPT=1 STOPS=1
 * prove ended FENCES=1 MESSAGES=2 CLOSE=1 STOPS=1
 * refute safety OMITS=1 NO_SECOND_CHECK=1: assertion violated
 * refute safety NO_MEMBARRIER=1: assertion violated
 * refute safety FENCES=1 NO_RECEIVER_FENCE=1: assertion violated
 * refute safety FENCES=1 NO_SENDER_FENCE=1: assertion violated
 * refute safety NO_RECHECK=1: assertion violated
 * refute safety LOOK_FIRST=1: assertion violated
 * refute safety FIRST_WORD_ONLY=1: assertion violated
 * refute safety WAKE_FIRST=1: assertion violated
 * refute safety BLOCK_AT_ONCE=1: assertion violated
 * refute safety RESERVE_ONCE=1: assertion violated
 * refute sent FIRST_WORD_ONLY=1: acceptance cycle
 * refute ended END_LATE=1 MESSAGES=2 CLOSE=1 STOPS=1: acceptance cycle
 * refute ended NO_OVER=1 MESSAGES=2 INTERRUPT=1 STOPS=1: acceptance cycle
 */

#ifndef MESSAGES
#define MESSAGES 3
#endif
#ifdef FENCES /* needsFences: without membarrier, or with readiness */
#define fences true
#else
#define fences false
#endif
#define SENDER_SLEEPS 2

/* Results of isReady. */
#define NOTHING 0
#define READY 1
#define THROWS 2

/* The words of the ring. */
byte SENDER_ASLEEP;
byte ROOM[2]; /* how many messages' room was given back */

/* Stores that are not visible yet. */
byte given[2]; /* of the receiver, to ROOM */
chan asleepStores = [3] of {byte}; /* of the sender, to SENDER_ASLEEP */
#ifdef OMITS
byte late[2]; /* those of given that a membarrier has omitted */
#endif

byte used[2]; /* how many messages have taken room */
byte wakeups; /* in the FIFO */
bool permit, interrupted; /* of the sender's thread: unparked */
bool sleeper, woken; /* of Waiter */
bool hasEnded; /* the connection, at the sender's side */
bool sendEnded; /* by an exception */
bool stopped; /* the receiver's program gives no more room back */

#define LATE(i) (late[i] > 0 -> late[i] - 1 : 0)

/* A full fence of the receiver. */
inline receiverFence() {
  ROOM[0] = ROOM[0] + given[0];
  ROOM[1] = ROOM[1] + given[1];
  given[0] = 0;
  given[1] = 0;
#ifdef OMITS
  late[0] = 0;
  late[1] = 0
#endif
}

inline membarrier() {
  empty(asleepStores);
#ifdef OMITS
  if
  :: true -> atomic { late[0] = given[0]; late[1] = given[1] }
  :: true -> atomic { receiverFence() }
  fi
#elif !defined(NO_MEMBARRIER)
  atomic { receiverFence() }
#endif
}

active proctype StoreBuffers() {
  byte value;
end: do
#ifdef OMITS
  :: atomic { given[0] > 0 -> given[0]--; ROOM[0]++; late[0] = LATE(0) }
  :: atomic { given[1] > 0 -> given[1]--; ROOM[1]++; late[1] = LATE(1) }
#else
  :: atomic { given[0] > 0 -> given[0]--; ROOM[0]++ }
  :: atomic { given[1] > 0 -> given[1]--; ROOM[1]++ }
#endif
  :: atomic { asleepStores ? value -> SENDER_ASLEEP = value; value = 0 }
  od
}

/* ---- The receiver ---- */

#define OWED(i) (used[i] > ROOM[i] + given[i])

inline look() {
  atomic {
#ifndef NO_RECEIVER_FENCE
    if :: fences -> receiverFence() :: else fi;
#endif
    asleep = SENDER_ASLEEP
  }
}

/* RingConsumer.wake, SmConnection.wakePeer */
inline wake() {
  if
  :: asleep != 0 ->
#ifdef WAKE_FIRST
    atomic { asleep = 0; wakeups++ }
    atomic { receiverFence(); SENDER_ASLEEP = 0 }
#else
    atomic { receiverFence(); asleep = SENDER_ASLEEP; SENDER_ASLEEP = 0 } /* getAndSet */
    atomic { if :: asleep != 0 -> asleep = 0; wakeups++ :: else fi }
#endif
  :: else
  fi
}

/* RingConsumer.acknowledge, endHold, or release */
active proctype Receiver() {
  byte asleep;
  bool first, second;
end: do
  :: atomic {
      OWED(0) || OWED(1) ->
      if
      :: OWED(0) -> first = true
      :: OWED(1) -> second = true
      :: OWED(0) && OWED(1) -> first = true; second = true
      fi
    }
#ifdef LOOK_FIRST
    look();
#endif
    atomic { if :: second -> given[1]++ :: else fi }
    atomic { if :: first -> given[0]++ :: else fi }
#ifdef FIRST_WORD_ONLY
    if :: first -> look() :: else fi;
#elif !defined(LOOK_FIRST)
    look();
#endif
    wake();
    atomic { first = false; second = false }
#ifdef STOPS
  :: stopped = true; break
#endif
  od
}

/* ---- The sender ---- */

/* Waiter.wake, by the endpoint's thread or by one that ends the connection */
inline wakeWaiter() { if :: sleeper -> woken = true; permit = true :: else fi }

/* EndpointLoop.turn in the sender's process */
active proctype Endpoint() {
end: do
  :: wakeups > 0 -> wakeups--; wakeWaiter()
  od
}

/* RingProducer.reserve */
inline reserve() {
  fits = (!both || used[1] == ROOM[1]);
  if :: fits -> fits = (used[0] == ROOM[0]) :: else fi
}

/* SmSender.isReady */
inline isReady() {
  if
  :: hasEnded -> ready = THROWS
  :: else ->
    reserve();
    if
    :: !fits -> /* isReceiverHoldingRoom */
      holds = (used[1] != ROOM[1]);
      if :: !holds -> holds = (used[0] != ROOM[0]) :: else fi;
#ifdef RESERVE_ONCE
      assert(holds)
#else
      if :: !holds -> reserve(); assert(fits) :: else fi
#endif
    :: else
    fi;
    atomic { ready = (fits -> READY : NOTHING); fits = false; holds = false }
  fi
}

/* SmSender.send, for each message. */
active proctype Sender() {
  byte messages = MESSAGES, ready;
  bool both, fits, holds, isSure;
  do
  :: messages > 0 ->
    if :: both = false :: both = true fi;
    isReady(); /* reserve, Waiter.block */
    do
    :: ready == READY || ready == THROWS -> break
    :: ready == NOTHING ->
#ifndef NO_OVER
      if :: interrupted -> ready = THROWS; break :: else fi; /* Waiter.isOver */
#endif
      sleeper = true; /* Waiter.sleep */
      woken = false;
      asleepStores ! SENDER_SLEEPS; /* arm */
      if
#ifndef NO_SENDER_FENCE
      :: fences -> empty(asleepStores)
#else
      :: fences
#endif
      :: !fences -> membarrier()
      fi;
#ifndef NO_RECHECK
      isReady();
#endif
#ifdef NO_SECOND_CHECK
      isSure = true;
#else
      if
      :: ready == NOTHING -> /* Waiter.delaySecondCheck */
#ifdef OMITS
#define PASSED (late[0] == 0 && late[1] == 0)
#else
#define PASSED true
#endif
        atomic {
          if
          :: permit -> permit = false
          :: permit && PASSED -> permit = false; isSure = true
          :: interrupted
          :: PASSED -> isSure = true
          fi
        }
#ifndef NO_RECHECK
        isReady()
#endif
      :: else
      fi;
#endif
#ifdef BLOCK_AT_ONCE
#define MAY_PARK true
#else
#define MAY_PARK !woken
#endif
      if
      :: ready == NOTHING && isSure && MAY_PARK ->
        if
#ifdef BLOCK_AT_ONCE
        :: true ->
#else
        :: SENDER_ASLEEP != 0 || nempty(asleepStores) -> /* isArmed; it loads its own last store */
#endif
end_park: atomic { if :: permit -> permit = false :: interrupted fi }
        :: else
        fi
      :: else
      fi;
      isSure = false;
      sleeper = false;
      asleepStores ! 0; /* disarm */
      if :: ready == NOTHING -> isReady() :: else fi
    od;
    if
    :: ready == READY -> /* publish */
      atomic { used[0]++; if :: both -> used[1]++ :: else fi; messages--; ready = NOTHING }
    :: else -> break
    fi
  :: else -> break
  od;
  atomic { sendEnded = (ready == THROWS); ready = NOTHING; both = false; messages = 0 }
}

#ifdef CLOSE
/* SmConnection.close, by another thread, or the peer's end */
active proctype Closer() {
#ifdef END_LATE
  wakeWaiter();
  hasEnded = true
#else
  hasEnded = true;
  wakeWaiter()
#endif
}
#endif

#ifdef INTERRUPT
/* Thread.interrupt, which unparks the thread */
active proctype Interrupter() { interrupted = true }
#endif

#define SENT (used[0] == MESSAGES)

/* At rest. */
active proctype End() {
  timeout;
  assert(SENT || (hasEnded || interrupted -> sendEnded : stopped));
  assert((SENDER_ASLEEP == 0) == (SENT || sendEnded));
  assert(wakeups == 0)
}

ltl sent { <> SENT }
ltl ended { [] ((hasEnded || interrupted) -> <> (sendEnded || SENT)) }
