/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The handshake of sm (docs/protocol-sm.md, "The handshake", "Death and close"): a client and a listener, each of which
 * may die at any step, and restart at the same address. Classes: SmConnector, ClientHandshake, SmConnection.close
 * (Client); Datagrams, ClientHandshake.receive, Links (ClientLoop); SmListener, SmConnectionRequest.make and reject,
 * ServerHandshake.take, offer and refuse (ServerProgram); Acceptor.receive, ServerHandshake.acknowledged, cancel, tick
 * and ended (ServerLoop).
 *
 * Proved: a client confirms memory of its own generation only; a server considers confirmed only memory that this client
 * has confirmed or used; a client is rejected, and an attempt cancelled, only by an answer or client of that attempt;
 * where no process can take a step, both sides are connected to each other's memory or neither is, and nothing is pending
 * ("agree"). A client whose server has died ends, without a timeout (ends). If datagrams are lost finitely often, and no
 * timeout expires, the client is answered (answered).
 *
 * Bounds: two attempts, two handshakes at the server, queues of one datagram (a full one loses more), FAULTS that lose,
 * delay or duplicate a datagram, one death and restart of either. A timeout may expire at any moment. REPEATS bounds the
 * repetitions of each side where NO_TIMEOUT is not set.
 *
 * Left out: invalid memory and files, versions, REFUSE and NO_ROOM (as REJECT), limits of Offers and the backlog, closing
 * a listener, lack of resources (tests), messages (other models), an orderly end of an endpoint (as a death without
 * attempts). All that is done under one monitor is one step. ServerHandshake.fail and Acceptor.forget are one step, since
 * only the endpoint's thread reads the map between them.
 *
 * FIFO_LATE: a client that opens the server's FIFO only after ACCEPT keeps memory of a dead server until its peerTimeout,
 * if the server restarts in between. NO_READER_CHECK: a client that does not check, after ACCEPT, whether the FIFO has a
 * reader combines the memory of the new server with the FIFO of the dead one, and cannot notify the new server of its
 * end. REUSE: numbers are reused at once, so REJECT of an earlier attempt reaches the next one, and so does a late
 * CANCEL.
 *
 * prove safety ATTEMPTS=1 FAULTS=1 REPEATS=0
 * prove safety ATTEMPTS=2 CLIENT_DEATHS=1 REPEATS=0
 * prove safety ATTEMPTS=2 REPEATS=0
 * prove safety ATTEMPTS=2 FAULTS=1 REPEATS=0
 * prove safety ATTEMPTS=2 REUSE=1 NO_REJECT=1 REPEATS=0
 * prove safety ATTEMPTS=1 SERVER_DEATHS=1 REPEATS=0
 * prove ends ATTEMPTS=1 SERVER_DEATHS=1 REPEATS=0
 * prove answered ATTEMPTS=1 FAULTS=1 NO_TIMEOUT=1
 * refute safety ATTEMPTS=1 SERVER_DEATHS=1 REPEATS=0 FIFO_LATE=1: assertion violated
 * refute ends ATTEMPTS=1 SERVER_DEATHS=1 REPEATS=0 FIFO_LATE=1: acceptance cycle
 * refute safety ATTEMPTS=1 SERVER_DEATHS=1 REPEATS=0 NO_READER_CHECK=1: assertion violated
 * refute safety ATTEMPTS=2 REUSE=1 REPEATS=0: assertion violated
 * refute safety ATTEMPTS=2 REUSE=1 NO_REJECT=1 NO_GENERATION=1 REPEATS=0: assertion violated
 * refute safety ATTEMPTS=1 NO_SECOND_CHECK=1 REPEATS=0: assertion violated
 * refute answered ATTEMPTS=1 FAULTS=1 NO_TIMEOUT=1 NO_ANSWER_AGAIN=1: acceptance cycle
 */

#ifndef ATTEMPTS
#define ATTEMPTS 2
#endif
#ifndef HANDSHAKES
#define HANDSHAKES 2
#endif
#ifndef FAULTS
#define FAULTS 0
#endif
#ifndef CLIENT_DEATHS
#define CLIENT_DEATHS 0
#endif
#ifndef SERVER_DEATHS
#define SERVER_DEATHS 0
#endif
#ifndef REPEATS
#define REPEATS 1
#endif
#ifdef REUSE
#define number(g) 1 /* each attempt has the same number at the client's endpoint */
#else
#define number(g) (g)
#endif

#ifndef QUEUE
#define QUEUE 1
#endif
mtype = { CONNECT, ACCEPT, REJECT, ACK, CANCEL };
mtype:state = { NONE, WAITING, TAKEN, OFFERED, CONFIRMED, REFUSED, FAILED };
mtype:life = { ABSENT, OPEN, ENDED, CLOSED };

/* Datagrams: type, the client's number, the server's number, and the memory that is passed: a client's ring is named by
   its generation, a server's by the number of its handshake; 0 is none. */
chan toServer = [QUEUE] of { mtype, byte, byte, byte };
chan toClient = [QUEUE] of { mtype, byte, byte, byte };
chan lateToServer = [1] of { mtype, byte, byte, byte };
chan lateToClient = [1] of { mtype, byte, byte, byte };
byte faults = FAULTS, clientDeaths = CLIENT_DEATHS, serverDeaths = SERVER_DEATHS;

/* The process, counted from 1, that has the endpoint's lock, and so its socket and FIFO; 0 if none has. */
byte client = 1, clients = 1, server = 1, servers = 1;
bit clientReturns, serverReturns; /* whether another one will have it */

/* The client's process */
byte generation;                 /* of the last attempt's ring */
byte registered;                 /* its number in clientHandshakes; 0: none */
bit ended;                       /* ClientHandshake.ended */
byte confirmed;                  /* ClientHandshake.confirmed: the server's number; 0: null */
mtype answer;
byte answerId, answerMemory;     /* ClientHandshake.answer */
byte serverFifo;                 /* the process whose FIFO is open */
bit linked;                      /* whether Links has the connection */
bit over;                        /* whether the connection has ended */
byte connected;                  /* the server's ring that the open, confirmed connection uses; 0: there is none */
bit clientHeader;                /* whether CLOSED is in its FIFO */

/* The server's process; handshakes count from 1, also as the connection's number at the server. */
byte handshakes;
mtype:state state[HANDSHAKES + 1] = NONE;       /* ServerHandshake.state */
mtype:life connection[HANDSHAKES + 1] = ABSENT; /* SmConnection */
byte generationOf[HANDSHAKES + 1], processOf[HANDSHAKES + 1], clientFifo[HANDSHAKES + 1], repeats[HANDSHAKES + 1];
byte open[ATTEMPTS + 1], refused[ATTEMPTS + 1]; /* Acceptor.open and refused, by the client's number */
bit serverCloses;                               /* whether the program closes connections */
bit serverHeader[HANDSHAKES + 1];               /* whether CLOSED is in its FIFO */

/* Shared memory */
bit closedByServer[ATTEMPTS + 1];               /* SENDER_CLOSED in a client's ring */
bit closedByClient[HANDSHAKES + 1];             /* SENDER_CLOSED in a server's ring */
bit sent[HANDSHAKES + 1];                       /* a record in a server's ring */

/* For the assertions */
bit rejected[ATTEMPTS + 1], gaveUp[ATTEMPTS + 1];
byte acknowledged[ATTEMPTS + 1];

#ifdef NO_TIMEOUT
#define isDue (empty(toClient) && empty(toServer)) /* 20 ms are longer than all steps take */
#else
#define isDue true
#endif
#ifdef NO_GENERATION
#define isOurs(h) true
#else
#define isOurs(h) (generationOf[h] == generation)
#endif
#define key(h) number(generationOf[h])
#define used(h) (sent[h] || closedByClient[h])
#define pending(h) (state[h] == WAITING || state[h] == TAKEN || state[h] == OFFERED)

#if HANDSHAKES == 2
#define some(h, condition) if :: condition(1) -> h = 1 :: condition(2) -> h = 2 fi
#define any(condition) (condition(1) || condition(2))
#else
#define some(h, condition) if :: condition(1) -> h = 1 :: condition(2) -> h = 2 :: condition(3) -> h = 3 fi
#define any(condition) (condition(1) || condition(2) || condition(3))
#endif

/* A send to a process that has ended fails with ECONNREFUSED or ENOENT, one to a full queue with EAGAIN. */
inline sendToServer(type, clientId, serverId, memory) {
  if :: server && nfull(toServer) -> toServer!type, clientId, serverId, memory :: !server || full(toServer) fi
}
inline sendToClient(type, clientId, serverId, memory) {
  if :: client && nfull(toClient) -> toClient!type, clientId, serverId, memory :: !client || full(toClient) fi
}

/* ------------------------------------------------------------------------------------------------------- the client */

inline endAtClient() { over = 1; connected = 0 }

/* The program's thread: SmConnector.connect, ClientHandshake.await, confirm and close, SmConnection.close. */
active proctype Client() {
  byte process, tries, memory, serverId;
  mtype type;
end:
  do
  :: atomic { client && client != process -> process = client; tries = 0; memory = 0; serverId = 0; type = 0 };
     { tries = 0;
end_attempt:
     atomic {
       generation < ATTEMPTS * clients / (CLIENT_DEATHS + 1) -> generation++; registered = number(generation); ended = 0; confirmed = 0; over = 0
     };
#ifndef FIFO_LATE
     atomic { if :: server -> serverFifo = server :: !server -> goto fail fi }; /* openFifo */
#endif
connect:
     atomic {
       if
       :: server -> sendToServer(CONNECT, number(generation), 0, generation)
       :: !server -> goto fail                                              /* checkSent */
       fi
     };
wait:
     atomic {                                                               /* nextAnswer */
       if
       :: answer -> type = answer; serverId = answerId; memory = answerMemory; answer = 0; answerId = 0; answerMemory = 0
#ifdef NO_TIMEOUT
       :: !answer && isDue -> goto connect
#else
       :: !answer && tries < REPEATS -> tries++; goto connect
       :: !answer -> goto fail                                              /* timed out */
#endif
       fi;
       if                                                                   /* evaluate, isOurs */
       :: type == REJECT -> assert(rejected[generation]); goto fail
       :: type == ACCEPT && memory == 0 -> type = 0; serverId = 0; goto wait
       :: type == ACCEPT && memory -> type = 0
       fi;
       if
       :: closedByServer[generation] -> goto fail
       :: !closedByServer[generation] && !isOurs(memory) -> memory = 0; serverId = 0; goto wait
       :: else
       fi
     };
#ifdef FIFO_LATE
     atomic { if :: server -> serverFifo = server :: !server -> goto fail fi };
#endif
#ifndef NO_READER_CHECK
     if :: server != serverFifo -> goto fail :: else fi;                    /* checkSameProcess */
#endif
     linked = 1;                                                            /* SmConnection.start */
#ifndef NO_SECOND_CHECK
     if :: closedByServer[generation] -> goto fail :: else fi;              /* checkNotGivenUp */
#endif
     atomic {                                                               /* ClientHandshake.confirm */
       assert(generationOf[memory] == generation);
       acknowledged[generation] = memory;
       sendToServer(ACK, number(generation), serverId, 0);
       confirmed = serverId;
       if :: !over -> connected = memory :: over fi
     };
     if :: sent[memory] = 1 :: skip fi;                                     /* a message */
     if
     :: skip -> atomic { endAtClient() }                                    /* the program closes it */
     :: skip ->
end_connected: over
     fi;
fail:
     atomic {                                                               /* ClientHandshake.close */
       ended = 1; answer = 0; answerId = 0; answerMemory = 0; type = 0; gaveUp[generation] = 1;
       if
       :: confirmed == 0 -> sendToServer(CANCEL, number(generation), 0, 0)
       :: confirmed
       fi
     };
     if
     :: linked ->                                                           /* SmConnection.close */
        closedByClient[memory] = 1;
        atomic { if :: server && server == serverFifo -> serverHeader[memory] = 1 :: else fi; linked = 0 }
     :: !linked
     fi;
     atomic {
       registered = 0; serverFifo = 0; memory = 0; serverId = 0; tries = 0; confirmed = 0; ended = 0; over = 0;
       clientHeader = 0; goto end_attempt
     }
     } unless { client != process }
  od
}

/* The endpoint's thread: Datagrams, ClientHandshake.receive, Links. */
active proctype ClientLoop() {
  mtype type;
  byte clientId, serverId, memory;
end:
  do
  :: atomic {
       toClient?type, clientId, serverId, memory ->
       if
       :: registered == clientId && !confirmed && !ended -> answer = type; answerId = serverId; answerMemory = memory
       :: registered == clientId && !confirmed && ended && type == ACCEPT -> sendToServer(CANCEL, clientId, 0, 0)
       :: registered == clientId && confirmed == serverId && type == ACCEPT -> sendToServer(ACK, clientId, serverId, 0)
       :: registered != clientId && type == ACCEPT -> sendToServer(CANCEL, clientId, 0, 0)
       :: else
       fi;
       type = 0; clientId = 0; serverId = 0; memory = 0
     }
  :: atomic { clientHeader -> clientHeader = 0; if :: linked && closedByServer[generation] -> endAtClient() :: else fi }
  :: atomic { linked && !over && server != serverFifo -> endAtClient() }    /* onPeerGone */
  od
}

/* ------------------------------------------------------------------------------------------------------- the server */

inline forget(h) { if :: open[key(h)] == h -> open[key(h)] = 0 :: else fi }

/* Closes a connection: SmConnection.close. */
inline close(h) {
  closedByServer[generationOf[h]] = 1;
  atomic {
    if :: client && client == clientFifo[h] -> clientHeader = 1 :: else fi;
    connection[h] = CLOSED; clientFifo[h] = 0; repeats[h] = 0; forget(h)
  }
}

#define isWaiting(h) (state[h] == WAITING)
#define mayClose(h) (state[h] == CONFIRMED && (connection[h] == ENDED || connection[h] == OPEN && serverCloses))

/* The program's thread: Listener.accept, SmConnectionRequest.make and reject, ServerHandshake.take, offer and refuse. */
active proctype ServerProgram() {
  byte process, h;
  if :: serverCloses = 1 :: skip fi;
end:
  do
  :: atomic { server && server != process -> process = server; h = 0 };
     { h = 0;
end_program:
     do
     :: atomic { any(isWaiting) -> some(h, isWaiting); state[h] = TAKEN };
        if
#ifndef NO_REJECT
        :: atomic {                                                         /* refuse */
             if
             :: state[h] == TAKEN -> state[h] = REFUSED; rejected[generationOf[h]] = 1; sendToClient(REJECT, key(h), 0, 0)
             :: else
             fi
           };
           atomic { if :: open[key(h)] == h && state[h] == REFUSED -> open[key(h)] = 0; refused[key(h)] = h :: else fi }
#endif
        :: atomic {                                                         /* attachPeer */
             if
             :: client -> clientFifo[h] = client
             :: !client -> if :: state[h] == TAKEN -> state[h] = FAILED :: else fi; goto failed
             fi
           };
           connection[h] = OPEN;                                            /* start */
           atomic {                                                         /* offer */
             if
             :: state[h] == TAKEN && client -> state[h] = OFFERED; sendToClient(ACCEPT, key(h), h, h)
             :: state[h] == TAKEN && !client -> state[h] = FAILED
             :: else
             fi
           };
failed:    if
           :: state[h] == FAILED -> atomic { forget(h); goto closing }
           :: else
           fi
        fi;
        h = 0
     :: atomic { any(mayClose) -> some(h, mayClose); connection[h] = ENDED };
closing:if :: connection[h] == OPEN || connection[h] == ENDED -> close(h) :: else fi;
        h = 0
     od
     } unless { server != process }
  od
}

#define isOffered(h) (state[h] == OFFERED)
#define isPeerGone(h) (connection[h] == OPEN && client != clientFifo[h])
#define hasHeader(h) (serverHeader[h])
#define isEndedOffer(h) (connection[h] == ENDED && state[h] == OFFERED)

/* The endpoint's thread: Acceptor.receive, ServerHandshake.acknowledged, cancel, tick and ended. */
active proctype ServerLoop() {
  mtype type;
  byte process, c, serverId, memory, h, next;
end:
  do
  :: atomic {
       server && server != process ->
       process = server; type = 0; c = 0; serverId = 0; memory = 0; h = 0; next = 0
     };
     { h = 0;
end_loop:
     do
     :: atomic {
          if
          :: toServer?type, c, serverId, memory ->
             h = open[c];
             if
             :: type == CONNECT ->
                if :: !h -> next = refused[c] :: h -> next = h fi;
                h = 0;
                if
                :: next && generationOf[next] != memory -> open[c] = 0; refused[c] = 0; h = next; next = 0 /* replaced */
                :: else
                fi;
                if
                :: !next && handshakes < HANDSHAKES ->
                   handshakes++; generationOf[handshakes] = memory; processOf[handshakes] = server;
                   state[handshakes] = WAITING; open[c] = handshakes
                :: !next && handshakes == HANDSHAKES                        /* isWithoutRoom */
                :: next && (state[next] == OFFERED || state[next] == CONFIRMED) -> /* answerAgain; without a file at the end */
                   sendToClient(ACCEPT, c, next, next * (state[next] == OFFERED))
#ifndef NO_ANSWER_AGAIN
                :: next && state[next] == REFUSED -> sendToClient(REJECT, c, 0, 0)
#endif
                :: else
                fi;
                next = 0;
                if :: !pending(h) -> h = 0 :: else fi
             :: type == ACK ->
                if
                :: state[h] == OFFERED && h == serverId ->
                   assert(acknowledged[generationOf[h]] == h); state[h] = CONFIRMED
                :: else
                fi;
                h = 0
             :: type == CANCEL ->
                if
                :: pending(h) -> assert(gaveUp[generationOf[h]] || (state[h] == OFFERED && used(h)))
                :: else -> h = 0
                fi
             fi;
             type = 0; c = 0; serverId = 0; memory = 0
          :: any(isOffered) && isDue -> some(h, isOffered);                 /* tick, withdraw */
             if
#ifdef NO_TIMEOUT
             :: skip -> sendToClient(ACCEPT, key(h), h, h); h = 0
#else
             :: repeats[h] < REPEATS && client && !used(h) -> repeats[h]++; sendToClient(ACCEPT, key(h), h, h); h = 0
             :: skip
#endif
             fi
          :: any(isPeerGone) -> some(h, isPeerGone); connection[h] = ENDED; h = 0
          :: any(hasHeader) -> some(h, hasHeader); serverHeader[h] = 0;     /* onPeerClosed */
             if :: connection[h] == OPEN && closedByClient[h] -> connection[h] = ENDED :: else fi; h = 0
          :: any(isEndedOffer) -> some(h, isEndedOffer)                     /* ServerHandshake.ended */
          fi;
          if
          :: h && state[h] == OFFERED && used(h) -> state[h] = CONFIRMED; h = 0
          :: h && pending(h) && !used(h) -> state[h] = FAILED; forget(h)
          :: else -> h = 0
          fi
        };
        if :: h && (connection[h] == OPEN || connection[h] == ENDED) -> close(h) :: else fi;
        h = 0
     od
     } unless { server != process }
  od
}

/* -------------------------------------------------------------------------------------- the network, deaths, the end */

#define isConnected(h) (state[h] == CONFIRMED && connection[h] == OPEN)
#if HANDSHAKES == 2
#define agree (!any(pending) && (!connected || isConnected(connected)) && \
  (!isConnected(1) || connected == 1) && (!isConnected(2) || connected == 2))
#else
#define agree (!any(pending) && (!connected || isConnected(connected)) && \
  (!isConnected(1) || connected == 1) && (!isConnected(2) || connected == 2) && (!isConnected(3) || connected == 3))
#endif

inline fault(channel, late) {
  channel?type, c, s, m;
  if
  :: skip                                                  /* lost */
  :: empty(late) -> late!type, c, s, m                     /* late, so that others overtake it */
  :: empty(late) -> channel!type, c, s, m; late!type, c, s, m /* duplicated */
  fi;
  type = 0; c = 0; s = 0; m = 0
}

inline empty_(channel) { do :: channel?_,_,_,_ :: empty(channel) -> break od }

active proctype Environment() {
  mtype type;
  byte c, s, m;
end:
  do
  :: atomic { faults > 0 && nempty(toServer) -> faults--; fault(toServer, lateToServer) }
  :: atomic { faults > 0 && nempty(toClient) -> faults--; fault(toClient, lateToClient) }
  :: atomic { lateToServer?type, c, s, m -> if :: server && nfull(toServer) -> toServer!type, c, s, m :: !server || full(toServer) fi; type = 0; c = 0; s = 0; m = 0 }
  :: atomic { lateToClient?type, c, s, m -> if :: client && nfull(toClient) -> toClient!type, c, s, m :: !client || full(toClient) fi; type = 0; c = 0; s = 0; m = 0 }
#if CLIENT_DEATHS
  :: atomic {
       client && clientDeaths > 0 -> clientDeaths--; client = 0; empty_(toClient); gaveUp[generation] = 1;
       if :: clientReturns = 1 :: skip fi;
       registered = 0; ended = 0; confirmed = 0; answer = 0; answerId = 0; answerMemory = 0; serverFifo = 0; linked = 0;
       over = 0; connected = 0; clientHeader = 0
     }
  :: atomic { clientReturns -> clientReturns = 0; clients++; client = clients }
#endif
#if SERVER_DEATHS
  :: atomic {
       server && serverDeaths > 0 -> serverDeaths--; server = 0; empty_(toServer);
       if :: serverReturns = 1 :: skip fi;
       for (c : 1 .. HANDSHAKES) { state[c] = NONE; connection[c] = CLOSED; serverHeader[c] = 0 };
       for (c : 1 .. ATTEMPTS) { open[c] = 0; refused[c] = 0 };
       c = 0
     }
  :: atomic { serverReturns -> serverReturns = 0; servers++; server = servers }
#endif
  :: timeout -> assert(agree); break
  od
}

#define isOrphan (connected && processOf[connected] != server)
ltl answered { <> (gaveUp[1] || acknowledged[1]) }
ltl ends { [] (isOrphan -> <> !isOrphan) }
