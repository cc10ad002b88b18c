/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The credits of sendrecv: docs/protocol-sendrecv.md, section Credits. Classes of dev.ferrule.sendrecv.queue: Window, CreditedSends,
 * OwnBufferReposter, and SendRecvChannel.received; of dev.ferrule.rdma.queue: ControlMessages.sendReport, sendPendingReport
 * and sayGoodbye, Channel.tick, ConnectionTick.pollForReports.
 *
 * Two sides with a receive queue each. Their programs send whenever they have credit, receive, and free in any order.
 *
 * Proved: a receive is posted for every message that is sent, so no device answers RNR. No message is taken for a
 * protocol violation. Whenever all messages have been polled, a side that owes credits can report them, or its peer can
 * send the report that enables it; so both sides cannot wait forever, however many messages their programs hold or have
 * claimed. If the programs receive and free, messages are received forever (received). If they stop freeing, the exchange
 * of reports ends (quiet). With goodbyes of both sides at any time, a receive is posted for each of them, too. With ENDS
 * each side closes its senders at any time. The END is a GRANT of another type; it can be sent under the same conditions
 * as a report.
 * Bounds: windows of 1 to 4, equal ones up to 3; goodbyes, and endless runs of two senders, with windows up to 2.
 * 4 with 4 was explored once (5,498,783 states).
 *
 * The counters of the code only increase. The model has their differences, which are bounded. A message carries the
 * increases of both counts since the last one. That is equivalent, as the queue pair neither loses nor reorders messages.
 *
 * What is one step here, and why that is enough:
 *  - A message reaches the peer's device when it is posted. That is the worst case: later, only more receives are posted.
 *  - Claim and abort are no steps. Both change only `reserved`, and a message carries the numbers of its post
 *    (Window.immediate). A program that has claimed all its credit behaves like one that does not send, so the check for
 *    stuck sides does not require a side without credit.
 *  - Everything under the lock of the send queue is one step, with the counters that others write: these only increase,
 *    so a later check is equivalent. The process reporter stands for each thread that reports: where isGrantDue is true,
 *    isGrantOwed of the periodic check is, too. That a report is due in time, not only four times a second, is proved by
 *    sendrecv-grant.
 *  - free and repost are one step. A receive that is posted later is the worst case. Until the periodic check, a freed
 *    buffer that is not reposted is equivalent to a held one.
 * Left out: the window of a shared receive queue, which sendrecv-shared has; 2^16 and 2^8 as bounds of the counts
 * (WindowTest); credits=off and the plain mode, which permit RNR; slots of the send queue for control messages, which are
 * waited for and retried by the periodic check; failures of posting, which end the connection.
 *
 * prove safety WINDOW=1
 * prove safety WINDOW=2
 * prove safety WINDOW=3
 * prove safety WINDOW=4 PEER_WINDOW=2
 * prove safety WINDOW=2 CLOSE
 * prove safety WINDOW=2 ENDS
 * prove safety WINDOW=1 ENDS CLOSE
 * prove received WINDOW=2
 * prove received WINDOW=4 SENDERS=1
 * prove quiet WINDOW=2 FREES=1
 *
 * Too few receives for control messages: none; or three, so that a goodbye after three unreported reports finds none:
 * refute safety WINDOW=1 CONTROL_RECEIVES=0: assertion violated
 * refute safety WINDOW=2 CONTROL_RECEIVES=3 CLOSE: assertion violated
 * Credits are granted, or a control message is reported, before the receive is posted:
 * refute safety WINDOW=2 GRANT_FIRST CLOSE: assertion violated
 * refute safety WINDOW=2 REPORT_FIRST CLOSE: assertion violated
 * A report takes a credit, as a message does: both sides use their last credit for messages, and neither can report
 * further ones:
 * refute safety WINDOW=1 TAKES_CREDIT: assertion violated
 * refute received WINDOW=1 TAKES_CREDIT: acceptance cycle
 * A message carries the numbers of its claim. They are lost if the claim is aborted, and the peer waits for them forever:
 * refute safety WINDOW=1 AT_CLAIM: assertion violated
 * A single credit is too little for a report:
 * refute safety WINDOW=1 LEAST=2: assertion violated
 * An END that is sent at once, whatever is unreported:
 * refute safety WINDOW=2 ENDS END_AT_ONCE: assertion violated
 * No report that only reports control messages; or no third one for a peer that has sent one itself: both sides wait:
 * refute safety WINDOW=2 NO_CONTROLS_DUE: assertion violated
 * refute safety WINDOW=2 NO_ANSWER: assertion violated
 * A third unreported report without such a reason is followed by a fourth with it, and no receive is left for a goodbye:
 * refute safety WINDOW=2 CONTROLS_AT_ONCE=3 CONTROLS_DUE=2: assertion violated
 * A report for each control message: the sides answer each other forever:
 * refute quiet WINDOW=1 CONTROLS_DUE=1: acceptance cycle
 */
#ifndef WINDOW
#define WINDOW 1 /* receives that side 0 has posted for messages: Terms.receives */
#endif
#ifndef PEER_WINDOW
#define PEER_WINDOW WINDOW /* and side 1 */
#endif
#ifndef CONTROL_RECEIVES
#define CONTROL_RECEIVES 4
#endif
#ifndef CONTROLS_AT_ONCE
#define CONTROLS_AT_ONCE 2
#endif
#ifndef CONTROLS_DUE
#define CONTROLS_DUE CONTROLS_AT_ONCE
#endif
#ifndef FREES
#define FREES -1 /* messages that a program frees before it stops; below 0, it does not stop */
#endif
#ifndef SENDERS
#define SENDERS 2
#endif
#ifndef LEAST
#define LEAST 1 /* the fewest credits that are granted by a message of their own */
#endif

#define MESSAGE 1
#define GRANT 2
#define GOODBYE 3

typedef Side {
  byte credit;     /* grantedByPeer - sent */
  byte owed;       /* reposted - grantedToPeer */
  byte unused;     /* grantedToPeer - received */
  byte unreported; /* controlsSent - controlsTakenByPeer */
  byte toReport;   /* controlsTaken - controlsReported */
  byte posted;     /* receives in the device's queue */
  byte held;       /* messages that are received and not freed */
  bit reporting;   /* of ControlMessages */
  bit ended;       /* all senders are closed */
  bit endPending;  /* an END is to be sent */
  bit closed       /* this side has sent its goodbye */
};
Side side[2];
chan wire[2] = [WINDOW + PEER_WINDOW + 4] of { byte, byte, byte }; /* by sender: type, increases of both counts */
byte busy; /* polling threads between two steps */

#define me side[s]
#define peer side[1 - s]
#define receives(s) (s == 0 -> WINDOW : PEER_WINDOW)

/* Window */
#ifdef NO_CONTROLS_DUE
#define isGrantOwed(me) (me.owed >= LEAST)
#else
#define isGrantOwed(me) (me.owed >= LEAST || me.toReport >= CONTROLS_DUE)
#endif
#ifdef NO_ANSWER
#define mayGrant(me) (me.unreported < CONTROLS_AT_ONCE)
#elif defined(TAKES_CREDIT)
#define mayGrant(me) (me.credit > 0)
#else
#define mayGrant(me) (me.unreported < CONTROLS_AT_ONCE || (me.unreported == CONTROLS_AT_ONCE && me.toReport > 0))
#endif
#ifdef END_AT_ONCE
#define canReport(me) (me.reporting && ((isGrantOwed(me) && mayGrant(me)) || me.endPending))
#else
#define canReport(me) (me.reporting && (isGrantOwed(me) || me.endPending) && mayGrant(me))
#endif

/* Window.immediate and the post, under the send queue's lock */
inline post(type) {
  assert(peer.posted > 0); /* otherwise RNR */
  peer.posted--;
  wire[s] ! type, me.owed, me.toReport;
  me.unused = me.unused + me.owed; me.owed = 0; me.toReport = 0
}

/* SendQueue.publish */
proctype sender(bit s) {
#ifdef AT_CLAIM
  byte granted, controls;
  bit reserved;
#endif
end_sender:
  do
#ifdef AT_CLAIM
  :: d_step { me.credit > 0 && !reserved ->
       me.credit--; reserved = 1; granted = me.owed; controls = me.toReport;
       me.unused = me.unused + me.owed; me.owed = 0; me.toReport = 0 }
  :: d_step { reserved -> peer.posted--; wire[s] ! MESSAGE, granted, controls; reserved = 0 }
  :: d_step { reserved -> reserved = 0; me.credit++ }
#else
  :: d_step { me.credit > 0 && !me.closed && !me.ended -> me.credit--; post(MESSAGE) }
#endif
  od
}

/* ControlMessages.sendReport and sendPendingReport */
proctype reporter(bit s) {
end_reporter:
  do
  :: d_step { canReport(me) -> me.unreported++; assert(me.unreported < 4 && !me.closed); me.endPending = 0; post(GRANT) }
  od
}

/* OwnBufferReposter.free and repost: posts the receive, then Window.reposted */
proctype receiver(bit s) {
  byte frees;
end_receiver:
  do
#ifdef GRANT_FIRST
  :: me.held > 0 -> me.owed++;
     d_step { me.held--; me.posted++ }
#else
  :: d_step { me.held > 0 && (FREES < 0 || frees < FREES) ->
       me.held--; me.posted++; me.owed++; frees = (FREES < 0 -> 0 : frees + 1) }
#endif
  od
}

/* Window.take */
inline take() {
  assert(granted <= receives(1 - s) && controls <= me.unreported);
  me.credit = me.credit + granted;
  me.unreported = me.unreported - controls;
  granted = 0; controls = 0
}

/* The thread that has the receive queue's lock: SendRecvChannel.received. BufferReposter.control is its second step. */
proctype poller(bit s) {
  byte granted, controls;
end_poller:
  do
  :: d_step { wire[1 - s] ? MESSAGE, granted, controls -> take(); assert(me.unused > 0); me.unused--; me.held++ }
  :: d_step { wire[1 - s] ? GRANT, granted, controls -> take(); assert(me.toReport < 4); busy++ }
#ifdef REPORT_FIRST
     me.toReport++;
     d_step { me.posted++; busy-- }
#else
     d_step { me.posted++; me.toReport++; busy-- }
#endif
#ifdef CLOSE
  :: d_step { wire[1 - s] ? GOODBYE, granted, controls -> take(); assert(me.toReport < 4); busy++ }
     d_step { me.posted++; me.toReport++; me.reporting = 0; busy-- }
#endif
  od
}

#ifdef CLOSE
/* ControlMessages.sayGoodbye */
proctype closer(bit s) {
  d_step { me.unreported++; post(GOODBYE); me.reporting = 0; me.closed = 1 }
}
#endif

#ifdef ENDS
/* ControlMessages.sendEnd */
proctype ender(bit s) {
  d_step { me.ended = 1; me.endPending = me.reporting }
}
#endif

/* All is polled, and peer owes credits or an END, but cannot send a report, and no report of me would enable it to. */
#define stuck(me, peer) ((peer.owed > 0 || peer.endPending) && !canReport(peer) && !canReport(me))

active proctype deadlock() {
end_none:
  d_step {
    empty(wire[0]) && empty(wire[1]) && !busy && side[0].reporting && side[1].reporting &&
      (stuck(side[0], side[1]) || stuck(side[1], side[0])) -> assert(false)
  }
}

init {
  byte s;
  atomic {
    for (s : 0 .. 1) {
      me.posted = receives(s) + CONTROL_RECEIVES;
      me.credit = receives(1 - s);
      me.unused = receives(s);
      me.reporting = 1;
      if
      :: s < SENDERS -> run sender(s)
      :: else
      fi;
      run reporter(s);
      run receiver(s);
#ifdef ENDS
      run ender(s);
#endif
#ifdef CLOSE
      run closer(s);
#endif
      run poller(s)
    }
  }
}

ltl received { []<> (side[1].held > 0) && (SENDERS < 2 || []<> (side[0].held > 0)) }
ltl quiet { <>[] (len(wire[0]) + len(wire[1]) == 0) }
