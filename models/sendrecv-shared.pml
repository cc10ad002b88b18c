/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The shared receive queue of sendrecv (srq=on): docs/protocol-sendrecv.md, section Many connections. Classes of
 * dev.ferrule.sendrecv.queue: SharedReceives (run, sleep, repostAll, post, regrant, wake) and its Share (takeFreed, free,
 * reposted, close, giveBack), BufferRing, and Window.
 *
 * Two connections, whose peers send whenever they have credit, and one thread that reposts the buffers of both. Other
 * connections are admitted at any time, as long as buffers are available, and their programs hold messages forever.
 *
 * Proved: a receive is posted for every message that is sent, also while shares grow and shrink, and when a connection
 * closes whose program holds messages, so that others use its share. Credits of all connections never exceed the buffers.
 * The reposting thread does not sleep while buffers are freed. If both programs free, both connections receive forever;
 * if one program frees nothing, the other connection does (received).
 * Bounds: shares of 1 to 3, with 1 buffer for control messages each, as these peers only answer reports. This model
 * examines the numbers of messages; sendrecv-credits covers the control messages. More buffers for them would hide a
 * missing receive.
 *
 * As in sendrecv-credits, counters are differences, a message reaches the device when it is posted, a report is sent at
 * any time, and the sections under a lock are one step. takeFreed is one step, too: a buffer that is added meanwhile is
 * added after it. The order of the steps represents the fence between adding a buffer and reading asleep (wake), and the
 * fence of sleep.
 * Left out: the fractions of the buffers (16, 4, 8) that limit shares, replaced by small numbers; a failing thread
 * (reportFault) and failing posts; buffers that a device completes late or never when a queue pair is destroyed, which
 * the document states as a limitation.
 *
 * prove safety
 * prove safety CLOSE SPARE=0
 * prove received SPARE=1
 * prove received HOLDER=1
 *
 * Control messages have no receive of their own:
 * refute safety CONTROL_RECEIVES=0: assertion violated
 * Credits are granted before the receives are posted:
 * refute safety GRANT_FIRST: assertion violated
 * A share is released when its connection closes, and not when its last buffer is reposted:
 * refute safety CLOSE EARLY SPARE=0: assertion violated
 * The thread parks without another check of the queues; or wake reads asleep before the buffer is visible. The thread is
 * not woken:
 * refute safety NO_CHECK: assertion violated
 * refute safety NO_FENCE: assertion violated
 * A share shrinks below its first size, to nothing, so its peer never gets credit again:
 * refute received LEAST=0 SPARE=1: acceptance cycle
 */
#ifndef FIRST
#define FIRST 1 /* Share.first */
#endif
#ifndef LEAST
#define LEAST FIRST /* the smallest share */
#endif
#ifndef LIMIT
#define LIMIT 3 /* Share.limit */
#endif
#ifndef SPARE
#define SPARE 2 /* buffers for which no connection has credit at first */
#endif
#ifndef HOLDER
#define HOLDER 2 /* the connection whose program frees nothing */
#endif
#ifndef CONTROL_RECEIVES
#define CONTROL_RECEIVES 1
#endif
#define BUFFERS (2 * (FIRST + CONTROL_RECEIVES) + SPARE)
#define PLENTY 1 /* instead of buffers.count() / 4 */
#define SCARCE 1 /* and / 8 */

#define MESSAGE 1
#define GRANT 2

typedef Connection {
  byte size;        /* of Share */
  byte held;        /* buffers whose holder is the share */
  byte freed;       /* of Share */
  byte taken;       /* taken - returned */
  short strayed;    /* -1: not yet known */
  bit closed;
  bit left;         /* the share is released */
  byte owed;        /* of Window, as in sendrecv-credits */
  byte unused;
  byte unreported;
  byte toReport;
  byte credit;      /* of the peer's window */
  byte peerUnreported;
  byte peerToReport;
  bit stopped       /* the queue pair is in the error state */
};
Connection connections[2];
byte posted = BUFFERS;
short available = SPARE;
byte unowned;      /* SharedReceives.unowned */
bit asleep, permit, parked;
byte waking; /* threads that have added a buffer, and have not checked whether the thread is asleep */
chan arriving[2] = [LIMIT + 4] of { byte, byte };
chan leaving[2] = [LIMIT + 4] of { byte, byte };

#define me connections[c]
#define mayGrant(unreported, toReport) (unreported < 2 || (unreported == 2 && toReport > 0))

/* The peer's program and its polling thread */
proctype peer(bit c) {
  byte granted, controls;
end_peer:
  do
  :: d_step { me.credit > 0 && !me.stopped ->
       assert(posted > 0); /* otherwise RNR */
       posted--; me.credit--; arriving[c] ! MESSAGE, me.peerToReport; me.peerToReport = 0 }
  :: d_step { me.peerToReport >= 2 && mayGrant(me.peerUnreported, me.peerToReport) && !me.stopped ->
       assert(posted > 0);
       posted--; me.peerUnreported++; arriving[c] ! GRANT, me.peerToReport; me.peerToReport = 0 }
  :: d_step { !me.stopped && nempty(leaving[c]) -> leaving[c] ? granted, controls;
       me.credit = me.credit + granted; me.peerUnreported = me.peerUnreported - controls; me.peerToReport++;
       granted = 0; controls = 0 }
  od
}

/* ControlMessages.sendReport and sendPendingReport */
proctype reporter(bit c) {
end_reporter:
  do
  :: d_step { (me.owed > 0 || me.toReport >= 2) && mayGrant(me.unreported, me.toReport) && !me.stopped ->
       me.unreported++; leaving[c] ! me.owed, me.toReport;
       me.unused = me.unused + me.owed; me.owed = 0; me.toReport = 0 }
  od
}

/* The polling thread: SendRecvChannel.received; a control message's buffer is reposted at once */
proctype poller(bit c) {
  byte controls;
end_poller:
  do
  :: d_step { arriving[c] ? MESSAGE, controls ->
       me.unreported = me.unreported - controls; controls = 0;
       assert(me.unused > 0); me.unused--; me.held++; me.taken++ }
  :: d_step { arriving[c] ? GRANT, controls ->
       me.unreported = me.unreported - controls; controls = 0; assert(me.toReport < 4); posted++; me.toReport++ }
  od
}

/* Share.free, and wake */
proctype receiver(bit c) {
#ifdef NO_FENCE
  bit sleeps;
#endif
end_receiver:
  do
#ifdef NO_FENCE
  :: d_step { me.held > 0 && c != HOLDER -> me.held--; waking++; sleeps = asleep }
     d_step { me.freed++; permit = permit || sleeps; waking--; sleeps = 0 }
#else
  :: d_step { me.held > 0 && c != HOLDER -> me.held--; me.freed++; waking++ }
     d_step { permit = permit || asleep; waking-- }
#endif
  od
}

/* Share.regrant, under the monitor, and Window.reposted */
inline regrant(c, returned) {
  d_step {
    change = 0;
    if
    :: available > PLENTY ->
       change = (returned < available - PLENTY -> returned : available - PLENTY);
       change = (change < LIMIT - me.size -> change : LIMIT - me.size)
    :: available <= PLENTY && available < SCARCE ->
       change = - (returned < me.size - LEAST -> returned : me.size - LEAST)
    :: else
    fi;
    me.size = me.size + change; available = available - change;
    assert(available >= 0 && me.size >= LEAST);
    me.owed = me.owed + returned + change;
    change = 0
  }
}

/* SharedReceives.post, and Share.reposted */
inline post() {
#ifndef GRANT_FIRST
  posted = posted + batch[0] + batch[1] + stray;
#else
  stray = stray + batch[0] + batch[1];
#endif
  if
  :: batch[0] > 0 && !connections[0].closed -> regrant(0, batch[0])
  :: else
  fi;
  batch[0] = 0;
  if
  :: batch[1] > 0 && !connections[1].closed -> regrant(1, batch[1])
  :: else
  fi;
  batch[1] = 0;
#ifdef GRANT_FIRST
  posted = posted + stray;
#endif
  stray = 0
}

inline giveBack(c) {
  available = available + me.size + CONTROL_RECEIVES; me.size = 0
}

/* Share.takeFreed */
inline takeFreed(c) {
  d_step {
    over = me.closed && me.strayed >= 0 && me.taken == me.strayed && me.freed == 0 && !me.left;
    batch[c] = me.freed; me.taken = me.taken - me.freed; me.freed = 0;
    any = any || batch[c] > 0 || over
  }
  if
  :: over ->
     d_step { stray = stray + unowned; unowned = 0 }
     post();
#ifdef EARLY
     d_step { me.left = 1; over = 0 }
#else
     d_step { giveBack(c); me.left = 1; over = 0 }
#endif
  :: else
  fi
}

inline repostAll() {
  d_step { any = unowned > 0; stray = unowned; unowned = 0 }
  takeFreed(0);
  takeFreed(1);
  post()
}

active proctype reposter() {
  byte batch[2];
  byte stray;
  short change;
  bit any, over;
  do
  :: repostAll();
     if
     :: any -> any = 0
     :: !any ->
        asleep = 1;
#ifndef NO_CHECK
        repostAll();
#endif
        if
        :: any -> any = 0
        :: !any ->
           parked = 1;
end_parked:
           permit;
           d_step { permit = 0; parked = 0 }
        fi;
        asleep = 0
     fi
  od
}

/* Other connections get what is available, for messages that their programs hold forever: the worst case. */
proctype admit() {
end_admit:
  do
  :: d_step { available > 0 -> assert(posted > 0); available--; posted-- }
  od
}

/* ConnectionCloser.giveUp: the queue pair to the error state, remove (drain), and Share.close */
proctype closer(bit c) {
  byte count;
  me.stopped = 1;
  d_step { empty(arriving[c]) -> me.strayed = -1 }
#ifdef EARLY
  d_step { me.closed = 1; waking++; giveBack(c) }
#else
  d_step { me.closed = 1; waking++ }
#endif
  do
  :: d_step { me.held > 0 -> me.held--; unowned++; count++ }
  :: me.held == 0 -> break
  od;
  me.strayed = count;
  d_step { permit = permit || asleep; waking-- }
}

active proctype lostWakeUp() {
end_none:
  d_step { parked && !permit && !waking && connections[0].freed + connections[1].freed + unowned > 0 ->
    assert(false) }
}

init {
  byte c;
  atomic {
    for (c : 0 .. 1) {
      me.size = FIRST; me.unused = FIRST; me.credit = FIRST;
      run peer(c);
      run poller(c);
      run reporter(c);
      run receiver(c)
    }
    run admit();
#ifdef CLOSE
    run closer(1)
#endif
  }
}

ltl received { []<> (connections[0].held > 0) && (HOLDER == 1 || []<> (connections[1].held > 0)) }
