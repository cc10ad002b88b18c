/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sleep and wake-up of a receiver of the provider sm by its flag and futex(2): docs/sm.md, "Waking up" and "Several
 * senders". A platform thread is in SmReceiver.receive; senders of two lanes send to it. Models ReceiverSleep, SleepFlag,
 * RingProducer.publish and wakeOnFlag, MessageCondition, Waiter.block, sleep and wake, Futex, Membarrier, and of
 * SmConnection.close and Thread.interrupt what wakes the receiver. sm-fifo.pml models the wake-up by FIFO.
 *
 * Memory: a store is visible to other threads when it leaves its thread's buffer, at any time up to the next fence or
 * system call of the thread; the stores to one word leave in order, those to different words in any order. That includes
 * each run of a TSO machine, and a load that is executed before an earlier store. membarrier(2) empties the buffer of each
 * other thread once, at any time during the call. Volatile fields of the heap are visible at once.
 *
 * Proved: each published message is received, whatever the other lane's sender does (it may stop forever at any step); an
 * interrupt and a close end the wait; a sender makes a system call at most once for each sleep of the receiver, except
 * that it repeats one that woke no thread; at the end the flag is 0. Bounds: 2 senders with 2 messages and 1 message, any
 * number of sleeps.
 * Left out: the ring's contents (sm-ring), of which a message is a number here; timeouts, which only make a wait shorter;
 * the wrap of the number after 2^30 sleeps; spinning and yields, which are earlier checks of the same condition.
 *
 * prove safety STOPS=0
 * prove safety FENCES=1
 * refute safety WAKE_FIRST=1 STOPS=0: assertion violated
 * refute safety WAKE_FIRST=1 FENCES=1: assertion violated
 */

#ifndef MESSAGES
#define MESSAGES 2 /* of sender 0 */
#endif
#ifndef OTHERS
#define OTHERS 1 /* of sender 1 */
#endif
#define ON_FLAG 1
#define WOKEN 128
#ifndef STOPS
#define STOPS 1
#endif
#ifdef FENCES
#define ALWAYS_SURE true
#else
#define ALWAYS_SURE false
#endif
#define NOTHING 0
#define READY 1
#define THROWS 2

/* The words of the connection's first ring. */
byte RECEIVER_ASLEEP;
bit SENDER_FENCES;
byte published[2]; /* the records of each lane that the receiver can see */

/* The buffers of stores that are not visible yet. */
byte records[2]; /* of each sender: how many headers */
chan flags = [3] of {byte}; /* of the receiver, to RECEIVER_ASLEEP */
chan fences = [3] of {bit}; /* of the receiver, to SENDER_FENCES */

/* The kernel's and the JVM's state of the receiver's thread. */
bool queued; /* it sleeps in FUTEX_WAIT */
bool interrupted;
bool nioBlocker; /* Futex.Interruption is entered */

/* Waiter, Lifecycle */
bool sleeper, woken, released;

byte taken[2];
bool stopped; /* sender 1 has stopped */
bool receiverEnded; /* receive has thrown */

/* Makes the stores of a sender visible. */
inline senderFence(i) { published[i] = published[i] + records[i]; records[i] = 0 }

/* Makes the stores of the receiver visible. */
inline receiverFence() { atomic { empty(flags) && empty(fences) } }

inline membarrier() {
  receiverFence();
#ifndef NO_MEMBARRIER
  atomic { senderFence(0) }
  atomic { senderFence(1) }
#endif
  receiverFence()
}

/* Posix.futexWake: a full fence of the caller, and the wake-up. */
inline futexWake(slept) { atomic { senderFence(i); slept = queued; queued = false } }

/* Compare-and-set of the flag. */
inline exchange(from, to) {
  atomic { senderFence(i); if :: RECEIVER_ASLEEP == from -> RECEIVER_ASLEEP = to :: else fi }
}

/* Futex.release, by another thread than the receiver's: the store is visible at the system call at the latest. */
inline release() {
  RECEIVER_ASLEEP = 0;
  queued = false
}

active proctype StoreBuffers() {
  byte value;
end_: do
  :: atomic { records[0] > 0 -> records[0]--; published[0]++ }
  :: atomic { records[1] > 0 -> records[1]--; published[1]++ }
  :: atomic { flags ? value -> RECEIVER_ASLEEP = value; value = 0 }
  :: atomic { fences ? value -> SENDER_FENCES = value; value = 0 }
  od
}

/* SmSender.send, for each message of a lane; sender 1 may stop forever at any step. */
#define STEP(i) if :: true :: i == 1 && STOPS -> stopped = true; goto stop fi
proctype Sender(bit i; byte messages) {
  byte asleep, last;
  bool slept, relied;
  do
  :: messages > 0 ->
    atomic { messages--; records[i]++ } /* RecordWriter.publishRecords */
    STEP(i);
    /* SleepFlag.lookAtReceiver */
    atomic {
#ifdef FENCES
      senderFence(i);
#endif
      asleep = RECEIVER_ASLEEP;
      relied = SENDER_FENCES
    }
    if
    :: asleep != 0 || relied -> atomic { senderFence(i); asleep = RECEIVER_ASLEEP; relied = false }
    :: else
    fi;
    if
    :: asleep != 0 -> /* RingProducer.wakeOnFlag */
      STEP(i);
      assert((asleep | WOKEN) != last);
      last = asleep | WOKEN;
#ifndef WAKE_FIRST
      exchange(asleep, asleep | WOKEN);
      asleep = asleep | WOKEN;
      STEP(i);
#endif
      futexWake(slept);
      STEP(i);
      exchange(asleep, 0); /* SleepFlag.putOut */
      STEP(i);
#ifdef WAKE_FIRST
      if :: !slept -> futexWake(slept) :: else fi;
#endif
      atomic { asleep = 0; slept = false }
    :: else
    fi
  :: else -> break
  od;
stop:
  atomic { asleep = 0; last = 0; messages = 0 }
}

/* SmReceiver.isReady; THROWS for an exception. */
inline isReady() {
  if
  :: released -> ready = THROWS
  :: else ->
    ready = (taken[0] < published[0] -> READY : NOTHING);
    if :: ready == NOTHING -> ready = (taken[1] < published[1] -> READY : NOTHING) :: else fi
  fi
}

/* Futex.await */
inline await(value, timed) {
  nioBlocker = true;
  if
  :: interrupted -> flags ! 0 /* Futex.release; no thread sleeps */
  :: else
  fi;
  receiverFence();
  atomic {
    if
    :: RECEIVER_ASLEEP == value -> queued = true
    :: else
    fi
  };
  if
  :: timed -> if :: !queued :: queued = false fi
  :: else
  fi
}

proctype Receiver() {
  byte number, armed, ready;
  bool isSure, reliesOnFences;
  do
  :: true ->
    isReady();
    if
    :: ready == THROWS -> break
    :: ready == READY -> /* SmReceiver.take */
      atomic { if :: taken[0] < published[0] -> taken[0]++ :: else -> taken[1]++ fi; ready = 0 }
      if /* ReceiverSleep.received, for any number of messages without a sleep */
      :: reliesOnFences -> reliesOnFences = false; fences ! 0
      :: true
      fi
    :: ready == NOTHING -> /* Waiter.block and sleep */
      if :: interrupted -> break :: else fi;
      sleeper = true;
      woken = false;
      /* ReceiverSleep.arm */
      atomic {
        number = number + 2;
        assert(number < WOKEN);
        armed = number | ON_FLAG;
        isSure = ALWAYS_SURE || reliesOnFences
      }
      if :: !isSure -> fences ! 1; reliesOnFences = true :: else fi;
      flags ! armed;
      if :: isSure -> receiverFence() :: else -> membarrier() fi;
      isReady();
      if
      :: ready == NOTHING && !isSure -> /* the second look */
        await(armed, true);
        nioBlocker = false;
        isReady()
      :: else
      fi;
      if
      :: ready == NOTHING && !woken ->
        if
        :: RECEIVER_ASLEEP != 0 -> /* isArmed */
          await(armed, false);
end_wait: !queued;
          nioBlocker = false
        :: else
        fi
      :: else
      fi;
      atomic { sleeper = false; armed = 0; isSure = 0 }
      flags ! 0; /* disarm */
      if :: ready == THROWS -> break :: else fi
    fi
  od;
  atomic { number = 0; ready = 0; reliesOnFences = 0 }
  receiverEnded = true
}

/* Waiter.wake, by another thread of the receiver's process. */
inline wake() {
  if
  :: sleeper ->
    woken = true;
    release()
  :: else
  fi
}

/* SmConnection.close, or the end of the connection that the endpoint's thread has found. */
proctype Closer() {
  released = true;
  wake()
}

/* Thread.interrupt */
proctype Interrupter() {
  interrupted = true;
  if
  :: nioBlocker -> release() /* Futex.Interruption.wakeup; later than the check of nioBlocker, since JDK 25 */
  :: else
  fi
}

/* Nothing can happen any more. */
active proctype End() {
  timeout;
  assert(receiverEnded == (released || interrupted));
  assert(receiverEnded || (taken[0] == MESSAGES && (taken[1] == OTHERS || stopped)))
}

init {
  atomic {
    run Receiver();
    run Sender(0, MESSAGES);
    run Sender(1, OTHERS);
#ifdef INTERRUPT
    run Interrupter();
#endif
#ifdef CLOSE
    run Closer();
#endif
  }
}
