/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sleep and wake-up of a receiver of the provider sm by its flag and futex(2): docs/protocol-sm.md, "Waking up" and "Several
 * senders". A platform thread is in SmReceiver.receive; senders in two lanes send to it. Models ReceiverSleep, SleepFlag,
 * RingProducer.publish and wakeOnFlag, MessageCondition, Waiter.block, sleep and wake, Futex, Membarrier, and what wakes
 * the receiver in SmConnection.close and Thread.interrupt. sm-fifo.pml models the wake-up by FIFO.
 *
 * Memory: a store is visible to other threads when it leaves its thread's buffer, at any time up to the next fence or
 * system call of the thread. The stores to one word leave in order, those to different words in any order. That includes
 * each run of a TSO machine, and loads that are executed before an earlier store. membarrier(2) empties the buffer of
 * each sender once, at any time during the call. Volatile fields of the heap are visible at once. A fence and the next
 * access are one step, since the buffer may become empty before it anyway.
 *
 * Proved: each published message is received, whatever the sender in the other lane does (it may stop forever at any
 * step); an interrupt and a close end the wait; a sender makes at most one system call for each sleep; at rest, the flag
 * is set if and only if the receiver sleeps. The bounds are, with membarrier, 1 message of each of two senders, 3 of one,
 * and 2 of one with an interrupt or a close; with fences, 2 messages of one sender and 1 of the other. The number of
 * sleeps is not bounded.
 * Left out: the ring's contents (sm-ring): a message is only counted here; the timeout of receive, after which the
 * program calls it again; the wrap of the number after 2^30 sleeps; spinning and yields, which are earlier checks.
 *
 * A sender changes the flag to another value than 0 before it calls futex(2), and to 0 after that. If it calls futex(2)
 * first and clears the flag then (WAKE_FIRST), a late wake-up of an earlier sleep ends the wait for the second check, the
 * receiver sleeps again with the same number, and the flag is cleared after that. If it clears the flag first
 * (CLEAR_FIRST), it may stop before it calls futex(2).
 *
 * OMITS: membarrier(2) may omit the senders, whose stores are visible by the time of the second check. Therefore the
 * receiver relies on the senders' fences only after a second check, and sleeps without a limit only then. With SURE_EARLY
 * it does so from the second sleep on, even if the first one had no second check.
 *
 * prove safety MESSAGES=1 OTHERS=1
 * prove safety FENCES=1
 * prove safety MESSAGES=3 OTHERS=0 OMITS=1
 * prove safety OTHERS=0 INTERRUPT=1
 * prove safety OTHERS=0 CLOSE=1
 * prove safety MESSAGES=1 OTHERS=0 OMITS=1 INTERRUPT=1
 * prove safety MESSAGES=1 OTHERS=0 OMITS=1 CLOSE=1
 * prove safety FENCES=1 OTHERS=0 INTERRUPT=1
 * prove safety FENCES=1 OTHERS=0 CLOSE=1
 * prove received OTHERS=0
 * prove ended MESSAGES=1 OTHERS=0 INTERRUPT=1
 * prove ended MESSAGES=1 OTHERS=0 CLOSE=1
 * prove ended FENCES=1 MESSAGES=1 OTHERS=0 INTERRUPT=1
 * prove ended FENCES=1 MESSAGES=1 OTHERS=0 CLOSE=1
 * refute safety OMITS=1 SURE_EARLY=1 OTHERS=0: assertion violated
 * refute safety NO_MEMBARRIER=1 OTHERS=0: assertion violated
 * refute safety NO_SENDER_FENCE=1 OTHERS=0: assertion violated
 * refute safety NO_RECEIVER_FENCE=1 OTHERS=0: assertion violated
 * refute safety NO_RECHECK=1 OTHERS=0: assertion violated
 * refute safety LOOK_FIRST=1 OTHERS=0: assertion violated
 * refute safety WAKE_FIRST=1 OTHERS=0: assertion violated
 * refute safety CLEAR_FIRST=1 FENCES=1: assertion violated
 * refute safety SAME_NUMBER=1 OTHERS=0: assertion violated
 * refute safety NO_CLEAR=1 OTHERS=0: assertion violated
 * refute safety WAKE_ONLY=1 OTHERS=0 INTERRUPT=1: assertion violated
 * refute safety WAKE_ONLY=1 OTHERS=0 CLOSE=1: assertion violated
 * refute received NO_MEMBARRIER=1 OTHERS=0: acceptance cycle
 * refute ended WAKE_ONLY=1 MESSAGES=1 OTHERS=0 INTERRUPT=1: acceptance cycle
 * refute ended WAKE_ONLY=1 MESSAGES=1 OTHERS=0 CLOSE=1: acceptance cycle
 */

#ifndef MESSAGES
#define MESSAGES 2 /* of sender 0 */
#endif
#ifndef OTHERS
#define OTHERS 1 /* of sender 1 */
#endif
#ifdef FENCES /* needsFences: without membarrier */
#define fences true
#else
#define fences false
#endif
#define ON_FLAG 1
#define WOKEN 128 /* a bit of the flag: a sender is about to wake the receiver, which must not go to sleep any more */

/* Results of isReady. */
#define NOTHING 0
#define READY 1
#define THROWS 2

/* The words of the connection's first ring. */
byte RECEIVER_ASLEEP;
bit SENDER_FENCES;
byte published[2]; /* the number of records of each lane */

/* Stores that are not visible yet. */
byte records[2]; /* of each sender: the number of headers */
chan asleepStores = [3] of {byte}; /* of the receiver, to RECEIVER_ASLEEP */
chan fencesStores = [3] of {bit}; /* of the receiver, to SENDER_FENCES */
#ifdef OMITS
byte late[2]; /* those of the senders that a membarrier has omitted */
#endif

bool queued; /* the receiver sleeps in FUTEX_WAIT */
bool interrupted, nioBlocker; /* Thread.interrupted; Futex.Interruption is entered */
bool sleeper, woken; /* of Waiter */
bool released; /* of Lifecycle */

byte taken[2]; /* the number of messages of each lane that were received */
bool stopped; /* sender 1 has stopped */
bool receiveEnded; /* by an exception */

/* A full fence of sender i. */
inline senderFence(i) {
  published[i] = published[i] + records[i];
  records[i] = 0;
#ifdef OMITS
  late[i] = 0
#endif
}

/* A full fence of the receiver, also that of a system call. */
inline receiverFence() { empty(asleepStores) && empty(fencesStores) }

inline membarrier() {
  receiverFence();
#ifdef OMITS
  if
  :: true -> atomic { late[0] = records[0]; late[1] = records[1] }
  :: true -> atomic { senderFence(0) }; atomic { senderFence(1) }
  fi
#elif !defined(NO_MEMBARRIER)
  atomic { senderFence(0) };
  atomic { senderFence(1) }
#endif
}

active proctype StoreBuffers() {
  byte value;
end: do
#ifdef OMITS
  :: atomic { records[0] > 0 -> records[0]--; published[0]++; late[0] = (late[0] > 0 -> late[0] - 1 : 0) }
  :: atomic { records[1] > 0 -> records[1]--; published[1]++; late[1] = (late[1] > 0 -> late[1] - 1 : 0) }
#else
  :: atomic { records[0] > 0 -> records[0]--; published[0]++ }
  :: atomic { records[1] > 0 -> records[1]--; published[1]++ }
#endif
  :: atomic { asleepStores ? value -> RECEIVER_ASLEEP = value; value = 0 }
  :: atomic { fencesStores ? value -> SENDER_FENCES = value; value = 0 }
  od
}

/* Sender 1 may stop here. */
#define STEP(i) if :: true :: i == 1 -> stopped = true; goto stop fi

/* SleepFlag.exchange */
inline exchange(from, to) {
  atomic { senderFence(i); if :: RECEIVER_ASLEEP == (from) -> RECEIVER_ASLEEP = to :: else fi }
}

/* Futex.wake */
inline wake(slept) { atomic { senderFence(i); slept = queued; queued = false } }

/* RingProducer.wakeOnFlag */
inline wakeOnFlag() {
#if defined(WAKE_FIRST)
  wake(slept);
  STEP(i);
  exchange(asleep, 0);
  STEP(i);
  if :: !slept -> wake(slept) :: else fi
#elif defined(CLEAR_FIRST)
  exchange(asleep, 0);
  STEP(i);
  wake(slept)
#else
  exchange(asleep, asleep | WOKEN);
  STEP(i);
  wake(slept);
  STEP(i);
#ifndef NO_CLEAR
  exchange(asleep | WOKEN, 0) /* clear */
#endif
#endif
}

/* SmSender.send, for each message of a lane. */
proctype Sender(bit i; byte messages) {
  byte asleep, last; /* the flag as found; at the last wake-up */
  bool relied, slept;
  do
  :: messages > 0 ->
    messages--;
#ifndef LOOK_FIRST
    records[i]++; /* RecordWriter.publishRecords */
    STEP(i);
#endif
    /* SleepFlag.lookAtReceiver: both words in one load */
    atomic {
#ifndef NO_SENDER_FENCE
      if :: fences -> senderFence(i) :: else fi;
#endif
      asleep = RECEIVER_ASLEEP;
      relied = SENDER_FENCES
    }
    if
    :: asleep != 0 || relied ->
      atomic {
#ifndef NO_SENDER_FENCE
        senderFence(i);
#endif
        asleep = RECEIVER_ASLEEP;
        relied = false
      }
    :: else
    fi;
#ifdef LOOK_FIRST
    records[i]++;
#endif
    if
    :: asleep != 0 ->
      STEP(i);
      assert((asleep | WOKEN) != last);
      last = asleep | WOKEN;
      wakeOnFlag();
      STEP(i);
      atomic { asleep = 0; slept = false }
    :: else
    fi
  :: else -> break
  od;
stop:
  atomic { asleep = 0; last = 0; messages = 0 }
}

/* SmReceiver.isReady */
inline isReady() {
  ready = (released -> THROWS : NOTHING);
  if :: ready == NOTHING && taken[0] < published[0] -> ready = READY :: else fi;
  if :: ready == NOTHING && taken[1] < published[1] -> ready = READY :: else fi
}

/* Futex.await until the thread sleeps, or will not; the caller waits for the end. */
inline await() {
  nioBlocker = true;
  if :: interrupted -> asleepStores ! 0 :: else fi; /* Interruption.wakeup; no other thread sleeps */
  atomic { receiverFence(); queued = (RECEIVER_ASLEEP == armed) } /* FUTEX_WAIT */
}

/* SmReceiver.receive, again and again. */
proctype Receiver() {
  byte number, armed, ready;
  bool requestsFences; /* SENDER_FENCES is set */
  bool reliesOnFences; /* there was a second check since */
  bool isSure;
  do
  :: true ->
    isReady();
    if
    :: ready == THROWS -> break
    :: ready == READY -> /* take */
      atomic { if :: taken[0] < published[0] -> taken[0]++ :: else -> taken[1]++ fi; ready = NOTHING }
      if /* ReceiverSleep.received: after any number of messages without a sleep */
      :: requestsFences -> atomic { requestsFences = false; reliesOnFences = false }; fencesStores ! 0
      :: true
      fi
    :: ready == NOTHING ->
      if :: interrupted -> break :: else fi; /* Waiter.isOver */
      sleeper = true; /* Waiter.sleep */
      woken = false;
      atomic { /* ReceiverSleep.arm */
#ifdef SAME_NUMBER
        number = 2;
#else
        number = number + 2;
        assert(number < WOKEN);
#endif
        armed = number | ON_FLAG;
#ifdef SURE_EARLY
        isSure = fences || requestsFences
#else
        isSure = fences || reliesOnFences
#endif
      }
      if :: !isSure -> fencesStores ! 1; requestsFences = true :: else fi;
      asleepStores ! armed;
      if
#ifndef NO_RECEIVER_FENCE
      :: isSure -> receiverFence()
#endif
      :: !isSure -> membarrier()
#ifdef NO_RECEIVER_FENCE
      :: isSure
#endif
      fi;
#ifndef NO_RECHECK
      isReady();
#endif
      if
      :: ready == NOTHING && !isSure -> /* for a second check */
        await();
        if
        :: !queued
#ifdef OMITS
        :: atomic { late[0] == 0 && late[1] == 0 -> queued = false; reliesOnFences = true; isSure = true }
#else
        :: atomic { queued = false; reliesOnFences = true; isSure = true } /* the timeout */
#endif
        fi;
        nioBlocker = false;
        isReady()
      :: else
      fi;
      if
#ifdef SURE_EARLY
      :: ready == NOTHING && !woken ->
#else
      :: ready == NOTHING && !woken && isSure ->
#endif
        if
#ifdef NO_RECEIVER_FENCE
        :: RECEIVER_ASLEEP != 0 || nempty(asleepStores) -> /* it loads its own last store */
#else
        :: RECEIVER_ASLEEP != 0 -> /* isArmed */
#endif
          await();
end_await: !queued;
          nioBlocker = false
        :: else
        fi
      :: else
      fi;
      sleeper = false;
      asleepStores ! 0; /* disarm */
      atomic { armed = 0; isSure = false }
      if :: ready == THROWS -> break :: else fi
    fi
  od;
  atomic { number = 0; ready = NOTHING; requestsFences = false; reliesOnFences = false }
  receiveEnded = true
}

/* Futex.release, by another thread of the process: its store is visible at the system call at the latest. */
inline release() {
#ifndef WAKE_ONLY
  RECEIVER_ASLEEP = 0;
#endif
  queued = false
}

/* SmConnection.close, or another end of the connection */
proctype Closer() {
  released = true;
  if :: sleeper -> woken = true; release() :: else fi /* Waiter.wake */
}

/* Thread.interrupt; since JDK 25, Interruption.wakeup may be late, as no lock is held */
proctype Interrupter() {
  interrupted = true;
  if :: nioBlocker -> release() :: else fi
}

#define ALL (taken[0] == MESSAGES && taken[1] == OTHERS)

/* At rest. */
active proctype End() {
  timeout;
  assert(receiveEnded == (released || interrupted));
  assert(receiveEnded || ALL || (stopped && taken[0] == MESSAGES));
  assert(receiveEnded == (RECEIVER_ASLEEP == 0))
}

init {
  atomic {
    run Receiver();
    run Sender(0, MESSAGES);
#if OTHERS > 0
    run Sender(1, OTHERS);
#endif
#ifdef INTERRUPT
    run Interrupter();
#endif
#ifdef CLOSE
    run Closer();
#endif
  }
}

ltl received { <> ALL }
ltl ended { [] ((released || interrupted) -> <> receiveEnded) }
