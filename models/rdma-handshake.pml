/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The handshake of sendrecv and magicring (docs/protocol-sendrecv.md, "The handshake"): clients that give up at any step while a
 * listener accepts them, and confirmations that are late or lost. Classes: RdmaConnector (Client); RdmaListener (onEvent,
 * nextStep, mayAcceptMore, addConfirming, onClientEvent, tick, close), RdmaConnectionRequest (onEvent, take, answer, refuse),
 * AcceptedClient (isConfirmedOrFailed, isSilent, onEvent, awaitSign, giveUp, close), ConnectionEvents.onCmEvent,
 * ConnectionCloser.abandon and close, ReceiveGroup.retain and release.
 *
 * Proved: at rest, a client and the server agree on whether they are connected; the resources of each client, and its
 * place in the receive group, are released exactly once; a client is rejected only if the listener has rejected it; at
 * most MAX_CONFIRMING + THREADS - 1 clients have a place without having confirmed.
 * Bounds: one client, whose confirmation or notice of the end is lost once, and a listener that may close; or two clients,
 * two accepting threads, and no losses. One place (MAX_CONFIRMING); each client makes one request.
 *
 * One step: all that is done under a lock; a call of the connection manager with the event that it causes; all that
 * closing does with the connection's resources.
 *
 * The connection manager's events of an id arrive in order; it retransmits what the network loses, so a loss in the model
 * is the loss of all retransmissions. The server then receives UNREACHABLE; a client detects the loss only by its probes.
 * Time is abstract: a timeout may expire at any moment. Left out: resolution of addresses, hellos and versions, backlog,
 * a lack of resources, device removal, what closing does with messages (another model), and Mailbox.last, which only
 * delays a timeout.
 *
 * prove safety
 * prove safety CLIENTS=2 THREADS=2 LISTENER_CLOSES=0 CM_LOSSES=0
 * prove ends LISTENER_CLOSES=0
 * refute safety IGNORE_GIVE_UP=1: assertion violated
 * refute safety NO_PROBE=1: assertion violated
 * refute safety NO_CLAIM=1: assertion violated
 * refute safety NO_CLOSED_CHECK=1: assertion violated
 * refute ends LISTENER_CLOSES=0 NO_PROBE=1: acceptance cycle
 * refute ends LISTENER_CLOSES=0 IGNORE_GIVE_UP=1: acceptance cycle
 * refute safety CLIENTS=2 THREADS=2 LISTENER_CLOSES=0 CM_LOSSES=0 STRICT_LIMIT=1: assertion violated
 */

#ifndef CLIENTS
#define CLIENTS 1
#endif
#ifndef THREADS
#define THREADS 1
#endif
#ifndef LISTENER_CLOSES
#define LISTENER_CLOSES 1
#endif
#ifndef CM_LOSSES
#define CM_LOSSES 1
#endif
#define MAX_CONFIRMING 1
#ifdef STRICT_LIMIT
#define LIMIT MAX_CONFIRMING
#else
#define LIMIT (MAX_CONFIRMING + THREADS - 1)
#endif

mtype = { CONNECT_REQUEST, ESTABLISHED, DISCONNECTED, REJECTED, UNREACHABLE };
mtype:request = { NONE, WAITING, ANSWERED, CANCELLED };
mtype:cm = { IDLE, REQ_RCVD, REP_SENT, CONNECTED, DESTROYED }; /* the kernel's state of an id at the server */

chan toServer[2] = [3] of { mtype };
chan toClient[2] = [3] of { mtype };
byte losses = CM_LOSSES;
mtype:cm id[2] = IDLE;
bit clientGone[2];                 /* the client's id is destroyed */

mtype:request state[2] = NONE;     /* RdmaConnectionRequest.state */
bit waiting[2], confirming[2];     /* RdmaListener */
byte answering;                    /* clients that threads accept, and have not added to confirming; not in the code */
byte accepting;
bit closed;
bit made[2];                       /* RdmaConnectionRequest.made: messages may arrive from here on */
mtype mailbox[2];                  /* the first event in it; whether DISCONNECTED follows it */
bit secondEvent[2];
bit handedOver[2];                 /* Mailbox.successor */
bit received[2], sent[2];          /* hasReceived, after a poll; messages of the client */
bit hasEnded[2], closing[2];       /* Lifecycle: of the connection at the server */
bit returned[2];                   /* to the program */
byte group;                        /* ReceiveGroup: connections that retain it */
bit releasedId[2];
bit connected[2], wasRejected[2];  /* the client's view; whether the listener has rejected it */

/* The kernel's notice to the client that the server's id has ended. */
inline notify(x, event) {
  if
  :: !clientGone[x] && nfull(toClient[x]) -> toClient[x]!event
  :: !clientGone[x] && losses > 0 && event == DISCONNECTED -> losses--
  :: clientGone[x]
  fi
}

/* destroy(id), and with it the queue pair. */
inline giveUpId(x) {
  assert(!releasedId[x]); releasedId[x] = 1;
  if
  :: id[x] == REQ_RCVD -> wasRejected[x] = 1; notify(x, REJECTED)
  :: id[x] == REP_SENT || id[x] == CONNECTED -> notify(x, DISCONNECTED)
  :: else
  fi;
  id[x] = DESTROYED
}

/* ConnectionCloser.abandon and close: the first caller releases the resources. */
inline closeConnection(x) {
  hasEnded[x] = 1;
  if
#ifdef NO_CLAIM
  :: closing[x] = 1; assert(group > 0); group--; giveUpId(x)
#else
  :: !closing[x] -> closing[x] = 1; assert(group > 0); group--; giveUpId(x)
  :: else
#endif
  fi
}
#ifdef NO_CLOSED_CHECK
#define mayAdd true
#else
#define mayAdd (!closed)
#endif
#ifdef NO_CLAIM
#define claims(x) (made[x])
#else
#define claims(x) (confirming[x])
#endif

#ifdef IGNORE_GIVE_UP
#define isAlive(x) true
#else
#define isAlive(x) (mailbox[x] == ESTABLISHED || mailbox[x] == UNREACHABLE && received[x])
#endif
#define isConfirmedOrFailed(x) (confirming[x] && (mailbox[x] || hasEnded[x] || received[x]))
#define mayAcceptMore (confirming[0] + confirming[1] < MAX_CONFIRMING)

/* RdmaConnector.connect, and the client's connection. */
proctype Client(byte x) {
  mtype event;
  atomic { id[x] = REQ_RCVD; toServer[x]!CONNECT_REQUEST };
  atomic {
    if
    :: toClient[x]?event ->
       if
       :: event == ESTABLISHED -> connected[x] = 1;
          if                                            /* ready to use */
          :: id[x] == REP_SENT -> id[x] = CONNECTED;
             if :: toServer[x]!ESTABLISHED :: losses > 0 -> losses--; toServer[x]!UNREACHABLE fi
          :: id[x] != REP_SENT
          fi
       :: else -> assert(event == DISCONNECTED || wasRejected[x])
       fi
    :: skip                                             /* timed out */
    fi;
    event = 0
  };
  if :: connected[x] -> sent[x] = 1 :: skip fi;         /* a message, even GOODBYE */
  if
  :: connected[x] ->
end_connected:
     if
     :: toClient[x]?event -> event = 0
#ifndef NO_PROBE
     :: id[x] == DESTROYED                              /* no answer to a probe */
#endif
     fi
  :: skip                                               /* the program closes it, or the attempt has failed */
  fi;
  atomic {
    connected[x] = 0; clientGone[x] = 1;
    do :: toClient[x]?_ :: empty(toClient[x]) -> break od;
    if
    :: id[x] == REP_SENT || id[x] == CONNECTED -> id[x] = CONNECTED; toServer[x]!DISCONNECTED
    :: else                                             /* not reported before it is accepted */
    fi
  }
}

inline drain(x) { if :: made[x] && sent[x] -> received[x] = 1 :: else fi }

/* The event loop. */
active proctype EventLoop() {
  mtype event;
  byte x;
  bit gone, toRefuse;
end:
  do
  :: atomic {
       if :: toServer[0]?event -> x = 0 :: toServer[1]?event -> x = 1 fi;
       if
       :: event == CONNECT_REQUEST ->                   /* takeRequest */
          if
          :: closed -> state[x] = ANSWERED; toRefuse = 1
          :: !closed -> state[x] = WAITING; waiting[x] = 1
          fi
       :: event != CONNECT_REQUEST && releasedId[x]     /* no handler */
       :: event != CONNECT_REQUEST && !releasedId[x] && handedOver[x] ->
          if :: event == DISCONNECTED -> hasEnded[x] = 1 :: else fi /* onCmEvent */
       :: event != CONNECT_REQUEST && !releasedId[x] && !handedOver[x] ->
          if
          :: mailbox[x] == 0 && made[x] -> drain(x)     /* AcceptedClient.onEvent */
             mailbox[x] = event; gone = !isAlive(x)
          :: mailbox[x] == 0 && !made[x] -> mailbox[x] = event
          :: mailbox[x] -> secondEvent[x] = (event == DISCONNECTED)
          fi
       fi;
       event = 0
     };
     if :: toRefuse -> atomic { giveUpId(x); toRefuse = 0 } :: else fi;
     if
     :: gone && claims(x) -> atomic { if :: claims(x) -> confirming[x] = 0 :: else -> gone = 0 fi }; /* onClientEvent */
        if :: gone -> atomic { closeConnection(x); gone = 0 } :: else fi
     :: else -> gone = 0
     fi;
     x = 0
  :: atomic { confirming[0] && !closed && empty(toServer[0]) -> x = 0 }; goto tick /* expired; takeWaitingEvents */
  :: atomic { confirming[1] && !closed && empty(toServer[1]) -> x = 1 };
tick:
     drain(x);
     atomic {
       if
       :: confirming[x] && mailbox[x] == 0 && !received[x] -> confirming[x] = 0; gone = 1
       :: else
       fi
     };
     if :: gone -> atomic { closeConnection(x); gone = 0 } :: else fi;
     x = 0
  od
}

/* Listener.accept. */
proctype Acceptor() {
  byte x;
  bit failed;
end:
  do
  :: atomic { !closed && isConfirmedOrFailed(0) -> confirming[0] = 0; x = 0 }; goto confirmed
  :: atomic { !closed && isConfirmedOrFailed(1) -> confirming[1] = 0; x = 1 }; goto confirmed
  :: atomic { !closed && waiting[0] && !isConfirmedOrFailed(0) && !isConfirmedOrFailed(1) && mayAcceptMore ->
       waiting[0] = 0; x = 0; answering++ }; goto answer
  :: atomic { !closed && waiting[1] && !isConfirmedOrFailed(0) && !isConfirmedOrFailed(1) && mayAcceptMore ->
       waiting[1] = 0; x = 1; answering++ };
answer:
     atomic {                                           /* take */
       if
       :: state[x] == WAITING && !closed -> state[x] = ANSWERED
       :: else -> answering--; goto next
       fi
     };
     atomic {                                           /* ReceiveGroups.group; turnAway */
       if
       :: closed -> answering--; giveUpId(x); goto next
       :: !closed -> group++
       fi
     };
     made[x] = 1;
     atomic {                                           /* rdma_accept, or the client is gone */
       if
       :: id[x] == REQ_RCVD && !clientGone[x] -> id[x] = REP_SENT; toClient[x]!ESTABLISHED
       :: else -> failed = 1
       fi
     };
     atomic {                                           /* addConfirming */
       answering--;
       if
       :: !failed && mayAdd -> confirming[x] = 1; assert(confirming[0] + confirming[1] + answering <= LIMIT)
       :: else -> failed = 1
       fi
     };
     if :: failed -> atomic { closeConnection(x); failed = 0 } :: else fi;
     goto next;
confirmed:
     atomic {                                           /* awaitSign */
       if
       :: mailbox[x] == 0 && hasEnded[x] -> failed = 1
       :: mailbox[x] == 0 && !hasEnded[x]
       :: mailbox[x] -> failed = !isAlive(x)
       fi
     };
     if
     :: failed -> atomic { closeConnection(x); failed = 0 }
     :: !failed -> atomic { handedOver[x] = 1; returned[x] = 1; hasEnded[x] = hasEnded[x] || secondEvent[x] }
     fi;
next:
     x = 0
  od
}

/* The program, which closes connections that have ended, and perhaps others and the listener. */
active proctype Program() {
  byte x; bit unconfirmed[2];
end:
  do
  :: atomic { returned[0] && !closing[0] && hasEnded[0] -> closeConnection(0) }
  :: atomic { returned[1] && !closing[1] && hasEnded[1] -> closeConnection(1) }
#if LISTENER_CLOSES
  :: atomic { !closed ->
       closed = 1; waiting[0] = 0; waiting[1] = 0; unconfirmed[0] = confirming[0]; unconfirmed[1] = confirming[1];
       confirming[0] = 0; confirming[1] = 0
     };
     for (x : 0 .. 1) {
       atomic { if :: state[x] == WAITING -> state[x] = ANSWERED; giveUpId(x) :: else fi };
       atomic { if :: unconfirmed[x] -> unconfirmed[x] = 0; closeConnection(x) :: else fi }
     }
#endif
  od
}

#define isHeld(x) (made[x] && !closing[x])
#define agree(x) (connected[x] == isHeld(x) && (state[x] == NONE || state[x] == WAITING || isHeld(x) || releasedId[x]) && \
  (!returned[x] || closing[x] || !hasEnded[x]))

init {
  byte i;
  atomic {
    for (i : 1 .. CLIENTS) { run Client(i - 1) };
    for (i : 1 .. THREADS) { run Acceptor() }
  };
  timeout -> assert(agree(0) && agree(1) && group == isHeld(0) + isHeld(1) &&
    (!closed || !confirming[0] && !confirming[1]))
}

#define halfOpen (connected[0] && !isHeld(0) || clientGone[0] && isHeld(0))
ltl ends { [] (halfOpen -> <> !halfOpen) }
