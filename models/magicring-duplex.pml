/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Both directions of magicring and the posted receives: docs/protocol-magicring.md, "Acknowledgments", "Why a receive is never
 * missing" and "Simplex". RingReceives (countFor, done), RingChannel.received, RingSpace, RingMessages and RingSends, and
 * of dev.ferrule.rdma.queue: SendQueue.reserve, ControlMessages (sendReport, sendEnd, sayGoodbye) and Channel.afterPoll.
 *
 * There are two sides. Each sends, or waits for room; its program receives and frees. With STOPS, a program may stop
 * receiving at any time. CLOSERS sides close at any time, and ENDERS sides close their senders at any time. With GIVES_UP
 * a program may find no room without waiting for it (tryClaim, or a timeout), and may stop sending when it does not wait,
 * or when it is woken. Without GIVES_UP it never gives up, so its next WANT always carries the acknowledgment that it
 * owes.
 *
 * Proved: a receive is posted for each message, acknowledgment, WANT, END and GOODBYE, so no device answers RNR. No
 * message follows an END, which is received unless a side closes. At rest all of them have been received, everything
 * freed is acknowledged, and a side waits for room only if the peer's program has messages to free. This also holds if
 * both programs only send. A side that waits gets room if the peer's program frees (unblocked). If both programs only
 * send, they exchange a few WANTs, and then nothing (quiet).
 *
 * The exact number of receives: 2 windows (simplex: 1), a WANT, an END if there is one, a GOODBYE, and BATCH - 1
 * completed receives that wait to be reposted together. All can be in use at a time, so with one fewer the device answers
 * RNR. RingReceives.countFor has one more, which would be needed if the content of a control message were used before its
 * receive is reposted (USE_FIRST).
 *
 * Bounds: windows of 1 and 2, in simplex 3; batches of 1 to 3 instead of 16. The model has differences of counters, which
 * are bounded. Whenever anything is unacknowledged, there may be no room: for lack of bytes, or because other claims have
 * reserved it. The receiver does not know that, which is the worst case. It may acknowledge more often than necessary, as
 * with acknowledge=each.
 * One step: all that is done under a lock; the poll of a completion with Channel.afterPoll, since a completion that is
 * polled but not yet handled is equivalent to one that is polled later; a free with its report. magicring.pml and
 * magicring-frees.pml split these steps. A message arrives when it is posted. That is the worst case, since later on only
 * more receives are posted.
 * Left out: places and lengths (magicring.pml); the limit of 8 control messages in flight; a side of which no thread polls,
 * whose tick acknowledges what it has freed; disconnecting, which flushes the receives.
 *
 * prove safety
 * prove safety BATCH=1 STOPS=1
 * prove safety BATCH=1 CLOSERS=1
 * prove safety WINDOW=1 CLOSERS=2
 * prove safety WINDOW=1 BATCH=3 CLOSERS=1
 * prove safety SIMPLEX=1 WINDOW=3 STOPS=1 CLOSERS=2
 * prove safety WINDOW=1 CLOSERS=1 MORE=1 USE_FIRST=1
 * prove safety BATCH=1 GIVES_UP=1
 * prove safety BATCH=1 ENDERS=2
 * prove safety WINDOW=1 ENDERS=2 CLOSERS=1
 * prove safety WINDOW=1 ENDERS=2 STOPS=1 GIVES_UP=1
 * prove safety SIMPLEX=1 WINDOW=3 ENDERS=1 CLOSERS=2
 * prove unblocked BATCH=1
 * prove quiet ONLY_SEND=1
 * Too few receives:
 * refute safety WINDOW=1 CLOSERS=1 MORE=-1: assertion violated
 * refute safety CLOSERS=2 MORE=-1: assertion violated
 * refute safety SIMPLEX=1 CLOSERS=1 MORE=-1: assertion violated
 * refute safety WINDOW=1 ENDERS=1 CLOSERS=1 MORE=-1: assertion violated
 * refute safety WINDOW=1 CLOSERS=1 USE_FIRST=1: assertion violated
 * Acknowledgments that the window does not limit: a further one at the arrival of each message; or an unlimited number of
 * WANTs:
 * refute safety WINDOW=1 CLOSERS=1 ACK_ARRIVALS=1: assertion violated
 * refute safety WINDOW=1 WANT_AGAIN=1: assertion violated
 * The end is announced before the sender's last message, as before a flush; or is omitted while a report is due:
 * refute safety BATCH=1 ENDERS=1 END_FIRST=1: assertion violated
 * refute safety BATCH=1 ENDERS=2 REPORT_INSTEAD=1: assertion violated
 * A side that waits gets no acknowledgment: it sends no WANT; its WANT is ignored; or acknowledgments do not confirm it:
 * refute safety NO_WANT=1: assertion violated
 * refute safety IGNORE_WANT=1: assertion violated
 * refute safety NO_CONFIRMATION=1: assertion violated
 * refute unblocked BATCH=1 IGNORE_WANT=1: acceptance cycle
 * A control message that acknowledges nothing discards the peer's WANT, which has an effect only if a program gives up:
 * refute safety BATCH=1 GIVES_UP=1 FORGET_WANT=1: assertion violated
 * A WANT is sent without an acknowledgment since the last WANT; each one confirms a WANT of the other side, and so on
 * forever:
 * refute quiet ONLY_SEND=1 WANT_AT_ONCE=1: acceptance cycle
 */
#ifndef WINDOW
#define WINDOW 2
#endif
#ifndef BATCH
#define BATCH 2
#endif
#ifndef CLOSERS
#define CLOSERS 0 /* sides that close at some time */
#endif
#ifndef ENDERS
#define ENDERS 0 /* sides that close their senders at some time */
#endif
#if ENDERS > 0
#define OTHERS 3 /* WANT, END and GOODBYE */
#else
#define OTHERS 2
#endif
#ifndef MORE
#define MORE 0 /* receives beyond the exact number; 1 in the code */
#endif
#ifdef SIMPLEX /* side 0 sends, side 1 acknowledges */
#define sends(s) (s == 0)
#define RECEIVES (WINDOW + OTHERS + BATCH - 1 + MORE)
#else
#define sends(s) true
#define RECEIVES (2 * WINDOW + OTHERS + BATCH - 1 + MORE)
#endif

mtype = { MESSAGE, ACK, WANT, END, GOODBYE };
typedef Side {
  byte unacked;           /* RingSpace of the peer's ring: sent - ackedMessages */
  bit lacksSpace;
  bit wantSent;           /* wantsSent != wantsTaken */
  bit ackedSinceWant = 1; /* ackedMessages > ackedAtWant */
  bit waiting, woken;     /* a thread waits for room; onProgress was called since it last looked */
  byte unfreed;           /* RingMessages of the own ring: messagesArrived - freedMessages */
  byte freed;             /* freedMessages - acknowledgedMessages */
  bit wanted;
  byte wants;             /* wantsTaken that are not reported */
  byte posted = RECEIVES; /* RingReceives: in the device's queue */
  byte completed;         /* waiting: to be posted with others */
  bit reporting = 1;      /* of ControlMessages */
  bit ended, peerEnded;   /* this side has closed its senders; has received an END */
  bit closed, goodbye     /* this side has sent a goodbye; has received one */
};
Side side[2];
chan wire[2] = [RECEIVES] of { mtype, byte, byte }; /* by sender: type, more freed messages, more received WANTs */
#define me side[s]
#define peer side[1 - s]

/* The WRITE or SEND, under the lock of the send queue */
inline post(type, messages, confirmed) {
  assert(peer.posted > 0); /* otherwise RNR */
  peer.posted--;
  wire[s] ! type, messages, confirmed
}

/* RingSends.prepare, RingMessages.acknowledge */
inline control(type) {
#ifdef FORGET_WANT
  me.wanted = 0;
#else
  if
  :: me.freed > 0 -> me.wanted = 0
  :: else
  fi;
#endif
#ifdef NO_CONFIRMATION
  if
  :: type == ACK -> post(type, me.freed, 0)
  :: else -> post(type, me.freed, me.wants); me.wants = 0
  fi;
#else
  post(type, me.freed, me.wants);
  me.wants = 0;
#endif
  me.freed = 0
}

#ifdef NO_WANT
#define isWantDue() false
#elif defined(WANT_AGAIN)
#define isWantDue() (me.lacksSpace)
#elif defined(WANT_AT_ONCE)
#define isWantDue() (me.lacksSpace && !me.wantSent)
#else
#define isWantDue() (me.lacksSpace && !me.wantSent && me.ackedSinceWant)
#endif
#define isAckDue() (me.freed > 0 && (me.wanted || me.unfreed + me.freed >= WINDOW))
/* ControlMessages.sendReport: what is due is sent; what is only owed may be due by a quarter, or by acknowledge=each */
inline sendReport() {
  if
  :: me.reporting && isWantDue() -> me.wantSent = 1; me.ackedSinceWant = 0; control(WANT)
  :: me.reporting && !isWantDue() && me.freed > 0 -> control(ACK)
  :: !me.reporting || (!isWantDue() && !isAckDue())
  fi
}

#ifdef END_FIRST
#define MAY_SEND true
#else
#define MAY_SEND !me.ended
#endif
/* SendQueue.reserve and publish */
proctype Sender(bit s) {
end_sender:
  do
  :: atomic { !me.closed && !me.goodbye && MAY_SEND && (!me.waiting || me.woken) ->
      me.woken = 0;
      if
      :: me.unacked < WINDOW -> me.waiting = 0; me.unacked++; post(MESSAGE, 0, 0)
      :: me.unacked > 0 -> me.lacksSpace = 1; me.waiting = 1; sendReport()
#ifdef GIVES_UP
      :: me.unacked > 0 -> me.lacksSpace = 1; me.waiting = 0; sendReport()
#endif
      fi
    }
#ifdef GIVES_UP
  :: atomic { !me.waiting || me.woken -> me.waiting = 0; me.woken = 0; break }
#endif
  od
}

/* RingReceives.done */
inline done() {
  me.completed++;
  if
  :: me.completed == BATCH -> me.posted = me.posted + BATCH; me.completed = 0
  :: else
  fi
}

/* RingSpace.takeAck, takeNumbers and takeWants */
inline take() {
#if !defined(ACK_ARRIVALS) && !defined(WANT_AGAIN)
  assert(messages <= me.unacked && confirmed <= me.wantSent && (messages > 0 || type != ACK));
#endif
  if
  :: messages > 0 -> me.unacked = me.unacked - messages; me.lacksSpace = 0; me.ackedSinceWant = 1
  :: else
  fi;
  if
  :: confirmed > 0 -> me.wantSent = 0
  :: else
  fi
}

/* RingChannel.received and Channel.afterPoll */
proctype Poller(bit s) {
  mtype type;
  byte messages, confirmed;
end_poller:
  do
  :: atomic { wire[1 - s] ? type, messages, confirmed ->
#ifndef USE_FIRST
      done();
#endif
      take();
      if
      :: type == MESSAGE ->
        assert(!me.peerEnded && me.unfreed + me.freed < WINDOW); /* checkNotEnded, RingMessages.arrived */
        me.unfreed++;
#ifdef ACK_ARRIVALS
        if
        :: me.reporting -> post(ACK, 0, 0)
        :: else
        fi
#endif
      :: type == WANT ->
        me.wants++;
#ifndef IGNORE_WANT
        me.wanted = 1
#endif
      :: type == END -> me.peerEnded = 1
      :: type == GOODBYE -> me.reporting = 0; me.goodbye = 1
      :: else
      fi;
      sendReport();
      me.woken = me.waiting; /* onProgress */
      type = 0; messages = 0; confirmed = 0
    }
#ifdef USE_FIRST
    atomic { done() }
#endif
  od
}

#ifndef ONLY_SEND
/* Channel.free, and the program */
proctype Receiver(bit s) {
end_receiver:
  do
  :: atomic { me.unfreed > 0 -> me.unfreed--; me.freed++; sendReport() }
#ifdef STOPS
  :: break
#endif
  od
}
#endif

/* RdmaSenders.afterClose and ControlMessages.sendEnd: the thread that sends closes, and so does not wait */
proctype Ender(bit s) {
end_ender:
  atomic { !me.waiting && !me.closed && !me.goodbye ->
    me.ended = 1;
    if
#ifdef REPORT_INSTEAD
    :: me.reporting && me.freed > 0 -> sendReport()
    :: me.reporting && me.freed == 0 -> control(END)
#else
    :: me.reporting -> control(END)
#endif
    :: !me.reporting
    fi
  }
}

/* ControlMessages.sayGoodbye */
proctype Closer(bit s) {
  atomic { control(GOODBYE); me.reporting = 0; me.closed = 1 }
}

#define isStuck(me, peer) (me.waiting && !me.closed && !me.goodbye && (peer.unfreed == 0 || peer.freed > 0))
active proctype End() {
  timeout;
  assert(empty(wire[0]) && empty(wire[1]));
  assert(!isStuck(side[0], side[1]) && !isStuck(side[1], side[0]));
  assert(side[0].closed == side[1].goodbye && side[1].closed == side[0].goodbye);
  assert(side[0].closed || side[1].closed || (side[0].ended == side[1].peerEnded && side[1].ended == side[0].peerEnded))
}

init {
  byte s;
  atomic {
    for (s : 0 .. 1) {
      if
      :: sends(s) -> run Sender(s)
      :: else
      fi;
      run Poller(s);
#ifndef ONLY_SEND
      if
      :: sends(1 - s) -> run Receiver(s)
      :: else
      fi;
#endif
      if
      :: s < ENDERS && sends(s) -> run Ender(s)
      :: else
      fi;
      if
      :: s < CLOSERS -> run Closer(s)
      :: else
      fi
    }
  }
}

ltl unblocked { [] (side[0].waiting -> <> !side[0].waiting) }
ltl quiet { <> [] (len(wire[0]) + len(wire[1]) == 0) }
