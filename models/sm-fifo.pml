/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Wake-up of a receiver of the provider sm by its endpoint's FIFO, which may be full: docs/protocol-sm.md, "Waking up" (even
 * numbers) and "The FIFO". A virtual thread is in SmReceiver.receive; a peer's thread sends to it, and may close the
 * connection then; other connections write to the same FIFO. Models Waiter.sleep and wake, MessageCondition,
 * SmSender.wakeReceiver, Peer, Links and LinkState (a full FIFO), and EndpointLoop.turn and readFifo of both processes.
 *
 * Memory is sequentially consistent here: sm-sleep.pml models the fences between flag and records, which are the same.
 *
 * Proved: each published message is received, and then the end of the connection is reported; an interrupt and the peer's
 * close end the wait; at most one WAKEUP is written for each sleep while the FIFO has room; at rest, the flag is set if
 * and only if the receiver sleeps. The bounds are 2 messages, a FIFO of 2 headers, reads of 2, and a header of another
 * connection; with an interrupt 2 messages; with a close 1 message and 2 such headers. A FIFO with room for less than one
 * read loses no wake-up either. It may lose the peer's CLOSED, which a keepalive detects later if keepalives are on.
 * One step: a write to the FIFO, a read of up to BATCH headers from it, publishing a message, an exchange of the flag or of
 * the pending headers.
 * Left out: several senders (sm-sleep.pml); keepalives, any of which would also wake the receiver; fragments; the peer's
 * death, which epoll reports; SmListenerReceiver, a Waiter.Condition like this one over several flags.
 *
 * prove safety INTERRUPT=1
 * prove safety ROOM=1
 * prove safety MESSAGES=1 OTHERS=2 CLOSE=1
 * prove ended MESSAGES=1 CLOSE=1
 * prove ended MESSAGES=1 INTERRUPT=1
 * refute safety NO_RETRY=1 ROOM=1: assertion violated
 * refute safety PENDING_LATE=1 ROOM=1: assertion violated
 * refute safety NO_WOKEN=1: assertion violated
 * refute safety WOKEN_AFTER=1: assertion violated
 * refute safety SLEEPER_LATE=1: assertion violated
 * refute safety CLOSE=1 ROOM=1 MESSAGES=1: assertion violated
 * refute safety NO_FULL_CHECK=1 CLOSE=1 MESSAGES=1: assertion violated
 * refute ended NO_FULL_CHECK=1 CLOSE=1 MESSAGES=1: acceptance cycle
 * refute ended NO_OVER=1 INTERRUPT=1 MESSAGES=1: acceptance cycle
 */

#ifndef MESSAGES
#define MESSAGES 2
#endif
#ifndef OTHERS
#define OTHERS 1 /* headers of other connections */
#endif
#ifndef ROOM
#define ROOM 2 /* of the FIFO */
#endif
#define BATCH 2 /* Fifo.Reader.BATCH; a FIFO of packets (O_DIRECT) has room for less */

/* Results of isReady. */
#define NOTHING 0
#define READY 1
#define THROWS 2

mtype = { WAKEUP, CLOSED, OTHER }
chan fifo = [ROOM] of { mtype }

byte RECEIVER_ASLEEP, published, taken;
bool SENDER_CLOSED;

bool sleeper, woken; /* of Waiter */
bool permit, interrupted; /* of the receiver's thread: unparked */
bool hasEnded; /* the connection, at the receiver's side */
bool receiveEnded; /* by an exception */

/* The sender's process. */
bool pending; /* Peer: a WAKEUP that found no room */
bool headersPending, event; /* Links.onFullFifo; EventPoll.wake */
bool awaitsRoom; /* LinkState: epoll reports room */

/* Writes a header, if there is room. */
inline write(header, result) {
  atomic { if :: nfull(fifo) -> fifo ! header; result = true :: full(fifo) -> result = false fi }
}

/* SmSender.send, for each message; and SmConnection.notifyPeer. */
active proctype Sender() {
  byte messages = MESSAGES, asleep, last;
  bool written;
  do
  :: messages > 0 ->
    atomic { messages--; published++ }
    asleep = RECEIVER_ASLEEP;
    if
    :: asleep != 0 -> /* SmSender.wakeReceiver */
      write(WAKEUP, written);
      if
      :: written ->
        assert(asleep != last);
        last = asleep;
        atomic { if :: RECEIVER_ASLEEP == asleep -> RECEIVER_ASLEEP = 0 :: else fi } /* RingProducer.clear */
      :: else -> /* Peer.write */
#ifndef NO_RETRY
        pending = true;
        headersPending = true;
        event = true
#endif
      fi;
      atomic { asleep = 0; written = false }
    :: else
    fi
  :: else -> break
  od;
#ifdef CLOSE
  SENDER_CLOSED = true;
  write(CLOSED, written) /* not repeated */
#endif
}

/* LinkState.writePending and Peer.writePending */
inline writePending() {
  atomic { types = pending; pending = false }
  isFull = false;
  if
  :: types ->
    write(WAKEUP, written);
    if :: !written -> pending = true; isFull = true :: else fi
  :: else
  fi;
  awaitsRoom = isFull;
  atomic { types = false; isFull = false; written = false }
}

/* EndpointLoop.turn in the sender's process. */
active proctype SenderEndpoint() {
  bool types, isFull, written;
end: do
  :: event -> /* Links.work */
    event = false;
    if
    :: headersPending ->
#ifdef PENDING_LATE
      writePending();
      headersPending = false
#else
      headersPending = false;
      writePending()
#endif
    :: else
    fi
  :: awaitsRoom && nfull(fifo) -> writePending() /* Links.handle */
  od
}

/* Other connections of the receiver's endpoint. */
active proctype OtherWriters() {
  byte count = OTHERS;
end: do
  :: atomic { count > 0 && nfull(fifo) -> fifo ! OTHER; count-- }
  od
}

/* SmConnection.onWakeup, Waiter.wake */
inline onWakeup() {
  if
  :: sleeper ->
#ifdef WOKEN_AFTER
    permit = true;
    woken = true
#else
    woken = true;
    permit = true
#endif
  :: else
  fi
}

/* SmConnection.onPeerClosed */
inline onPeerClosed() {
  if :: SENDER_CLOSED && !hasEnded -> hasEnded = true; onWakeup() :: else fi
}

/* EndpointLoop.turn in the receiver's process. */
active proctype ReceiverEndpoint() {
  mtype first, second;
  byte count;
end: do
  :: atomic {
      nempty(fifo) -> /* Fifo.Reader.read */
      fifo ? first;
      count = 1;
      if :: fifo ? second -> count = 2 :: empty(fifo) fi
    }
    do /* Links.handleHeader */
    :: first != 0 ->
      if :: first != OTHER -> onWakeup() :: else fi;
      if :: first == CLOSED -> onPeerClosed() :: else fi;
      atomic { first = second; second = 0 }
    :: else -> break
    od;
#ifndef NO_FULL_CHECK
    if :: count == BATCH -> onWakeup(); onPeerClosed() :: else fi; /* Links.checkAll */
#endif
    count = 0
  od
}

/* SmReceiver.isReady */
inline isReady() {
  ready = (taken < published -> READY : NOTHING);
  if
  :: ready == NOTHING && hasEnded -> ready = (taken < published -> READY : THROWS)
  :: else
  fi
}

/* SmReceiver.receive, again and again. */
active proctype Receiver() {
  byte number, ready;
  bool isSure, reliesOnFences;
  do
  :: true ->
    isReady();
    if
    :: ready == THROWS -> break
    :: ready == READY -> atomic { taken++; ready = NOTHING }
    :: ready == NOTHING ->
#ifndef NO_OVER
      if :: interrupted -> break :: else fi; /* Waiter.isOver */
#endif
#ifndef SLEEPER_LATE
      sleeper = true; /* Waiter.sleep */
      woken = false;
#endif
      atomic { number = number + 2; isSure = reliesOnFences; reliesOnFences = true }
      RECEIVER_ASLEEP = number; /* ReceiverSleep.arm */
#ifdef SLEEPER_LATE
      sleeper = true;
      woken = false;
#endif
      isReady();
      if
      :: ready == NOTHING && !isSure -> /* for a second check */
        atomic { if :: permit -> permit = false :: interrupted :: true /* the timeout */ fi }
        isReady()
      :: else
      fi;
      if
#ifdef NO_WOKEN
      :: ready == NOTHING ->
#else
      :: ready == NOTHING && !woken ->
#endif
        if
        :: RECEIVER_ASLEEP != 0 -> /* isArmed */
end_park: atomic { if :: permit -> permit = false :: interrupted fi }
        :: else
        fi
      :: else
      fi;
      sleeper = false;
      RECEIVER_ASLEEP = 0; /* disarm */
      if :: ready == THROWS -> break :: else fi
    fi
  od;
  atomic { number = 0; ready = NOTHING; isSure = false; reliesOnFences = false }
  receiveEnded = true
}

#ifdef INTERRUPT
/* Thread.interrupt of a virtual thread, which unparks it. */
active proctype Interrupter() { interrupted = true }
#endif

/* At rest. */
active proctype End() {
  timeout;
  assert(receiveEnded == (SENDER_CLOSED || interrupted));
  assert(taken == MESSAGES || interrupted);
  assert(receiveEnded == (RECEIVER_ASLEEP == 0));
  assert(empty(fifo) && !pending)
}

ltl ended { <> receiveEnded }
