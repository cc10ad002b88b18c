// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.messages;

import dev.ferrule.Connection;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.Rma;
import dev.ferrule.RmaHandle;
import dev.ferrule.RmaRight;
import dev.ferrule.SendRegion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;

/** Messages and remote memory access over a connection of {@code sm}. */
final class ConnectionMistakes {

  private static final MemorySegment HELLO = MemorySegment.ofArray(new byte[5]);

  private ConnectionMistakes() {}

  static List<Mistake> ends() {
    return List.of(
        new Mistake(
            "a send after the own close",
            fixture -> {
              Connection client = fixture.pair("").client();
              client.close();
              client.sender().send(HELLO);
            },
            "ConnectionClosedException: sm:///DIR/PID/ID#N: the connection was closed by "
                + "this side"),
        new Mistake(
            "a receive after the own close",
            fixture -> {
              Connection client = fixture.pair("").client();
              client.close();
              client.receiver().receive();
            },
            "ConnectionClosedException: sm:///DIR/PID/ID#N: the connection was closed by "
                + "this side"),
        new Mistake(
            "a send after the peer's close",
            fixture -> {
              Fixture.Pair pair = fixture.pair("");
              pair.server().close();
              while (true) {
                pair.client().sender().send(HELLO);
              }
            },
            "ConnectionClosedException: sm:///DIR/PID/ID#N: the connection was closed by "
                + "the peer"),
        new Mistake(
            "a receive after the peer's close",
            fixture -> {
              Fixture.Pair pair = fixture.pair("");
              pair.server().close();
              pair.client().receiver().receive();
            },
            "EndOfStreamException: sm:///DIR/PID/ID#N: end of stream: all messages were "
                + "received, and the connection was closed by the peer"),
        new Mistake(
            "a receive after the end of the peer's messages",
            fixture -> {
              Fixture.Pair pair = fixture.pair("");
              pair.server().sender().close();
              pair.client().receiver().receive();
            },
            "EndOfStreamException: sm:///DIR/PID/ID#N: end of stream: all messages were "
                + "received, and the peer has closed its senders"),
        new Mistake(
            "a send by a closed sender",
            fixture -> {
              Connection client = fixture.pair("").client();
              client.sender().close();
              client.sender().send(HELLO);
            },
            "IllegalStateException: the sender is closed"),
        new Mistake(
            "a sender after the last one was closed",
            fixture -> {
              Connection client = fixture.pair("").client();
              client.sender().close();
              client.newSender();
            },
            "IllegalStateException: all senders of this connection are closed, and the "
                + "peer was notified that no further message follows; open further senders "
                + "before the last one is closed"),
        new Mistake(
            "a peer whose process is killed",
            fixture -> {
              LostPeer peer = fixture.keep(LostPeer.start(fixture.address()));
              Connection client = fixture.connect(peer.address());
              peer.kill();
              client.receiver().receive();
            },
            "PeerLostException: sm:///DIR/PID/ID#N: the peer's process has ended without "
                + "closing the connection"));
  }

  static List<Mistake> messages() {
    return List.of(
        new Mistake(
            "a message longer than the peer receives",
            fixture ->
                fixture.pair("?maxMessage=4KiB").client().sender().send(fixture.memory(5_000)),
            "MessageTooLongException: sm:///DIR/PID/ID#N: message too long: 5000 bytes "
                + "exceed the limit of 4096 bytes; send it in parts, or raise maxMessage on "
                + "the receiving side, and over RDMA sendBuffer on this one"),
        new Mistake(
            "a claim longer than the peer receives",
            fixture -> fixture.pair("?maxMessage=4KiB").client().sender().claim(5_000),
            "MessageTooLongException: sm:///DIR/PID/ID#N: message too long: 5000 bytes "
                + "exceed the limit of 4096 bytes; send it in parts, or raise maxMessage on "
                + "the receiving side, and over RDMA sendBuffer on this one"),
        new Mistake(
            "a claim of a negative length",
            fixture -> fixture.pair("").client().sender().claim(-1),
            "IllegalArgumentException: invalid message length: -1 bytes; the minimum is 0"),
        new Mistake(
            "a region that is committed twice",
            fixture -> {
              SendRegion region = fixture.pair("").client().sender().claim(8);
              region.commit();
              region.commit();
            },
            "IllegalStateException: the region is not claimed: it was already committed, "
                + "staged or aborted"),
        new Mistake(
            "a commit of more than was claimed",
            fixture -> {
              try (SendRegion region = fixture.pair("").client().sender().claim(8)) {
                region.commit(9);
              }
            },
            "IllegalArgumentException: cannot send 9 bytes of a region of 8 bytes"),
        new Mistake(
            "the id of no message",
            fixture -> fixture.pair("").client().sender().await(7),
            "IllegalArgumentException: unknown message id 7; the last id is 0"),
        new Mistake(
            "a peer that does not receive",
            fixture -> {
              Connection client = fixture.pair("?maxMessage=64&ring=4KiB").client();
              while (true) {
                client.sender().send(HELLO, Duration.ofMillis(1));
              }
            },
            "OperationTimeoutException: sm:///DIR/PID/ID#N: timed out waiting for space "
                + "for a message of 5 bytes: the peer is not receiving"),
        new Mistake(
            "all space claimed by the program",
            fixture -> {
              Connection client = fixture.pair("?maxMessage=4KiB&buffer=8KiB").client();
              while (true) {
                client.sender().claim(4_096);
              }
            },
            "IllegalStateException: all buffer space is claimed by this program; send or "
                + "abort regions before claiming more"),
        new Mistake(
            "no message",
            fixture -> fixture.pair("").client().receiver().receive(Duration.ZERO),
            "OperationTimeoutException: sm:///DIR/PID/ID#N: receive timed out: no "
                + "message arrived"),
        new Mistake(
            "an interrupted receive",
            fixture -> {
              Connection client = fixture.pair("?wait=block").client();
              Thread.currentThread().interrupt();
              try {
                client.receiver().receive();
              } finally {
                Thread.interrupted();
              }
            },
            "OperationInterruptedException: sm:///DIR/PID/ID#N: interrupted while "
                + "waiting to receive"),
        new Mistake(
            "a poll for no messages",
            fixture -> fixture.pair("").client().receiver().poll((b, o, l) -> {}, 0),
            "IllegalArgumentException: invalid limit: 0 messages; the minimum is 1"),
        new Mistake(
            "a region that is freed twice",
            fixture -> {
              Fixture.Pair pair = fixture.pair("");
              pair.server().sender().send(HELLO);
              var message = pair.client().receiver().receive();
              message.close();
              pair.client().receiver().free(message);
            },
            "IllegalStateException: the region was already freed"),
        new Mistake(
            "a region of another connection",
            fixture -> {
              Fixture.Pair pair = fixture.pair("");
              Fixture.Pair other = fixture.pair("");
              pair.server().sender().send(HELLO);
              other.client().receiver().free(pair.client().receiver().receive());
            },
            "IllegalArgumentException: the region was received from another connection"),
        new Mistake(
            "more senders than the peer permits",
            fixture -> {
              Connection client = fixture.pair("?lanes=1").client();
              client.newSender();
              client.newSender();
            },
            "ResourceExhaustedException: sm:///DIR/PID/ID#N: the limit of 1 senders "
                + "beside the first is reached: close one, or raise the peer's option lanes"),
        new Mistake(
            "the messages of a common receiver",
            fixture -> {
              var listener = fixture.listen("?singleReceiver=on");
              var connecting = fixture.connecting(listener.uri().toString());
              Connection server = fixture.keep(listener.accept());
              connecting.join();
              listener.receiver();
              server.receiver().receive();
            },
            "IllegalStateException: the messages of this connection go to "
                + "Listener.receiver(); receive from there"),
        new Mistake(
            "a common receiver without its option",
            fixture -> fixture.listen("").receiver(),
            "IllegalStateException: Listener.receiver() requires the listener's option "
                + "singleReceiver=on"),
        new Mistake(
            "readiness without its option",
            fixture -> fixture.listen("").readiness(),
            "IllegalStateException: sm:///DIR/PID/ID has no readiness: the option "
                + "readiness is off; set readiness=receive or readiness=all before connecting "
                + "or listening"));
  }

  static List<Mistake> remoteMemory() {
    return List.of(
        new Mistake(
            "an access beyond the exposed memory",
            fixture -> {
              Fixture.Access access = fixture.access(RmaRight.WRITE);
              access.rma().write(access.local(), 0, access.remote(), 60, 8);
            },
            "IndexOutOfBoundsException: the access exceeds the remote memory: 8 bytes at "
                + "offset 60 of 64 bytes"),
        new Mistake(
            "an access beyond the local memory",
            fixture -> {
              Fixture.Access access = fixture.access(RmaRight.WRITE);
              access.rma().write(access.local(), 127, access.remote(), 0, 8);
            },
            "IndexOutOfBoundsException: the access exceeds the local memory: 8 bytes at "
                + "offset 127 of 128 bytes"),
        new Mistake(
            "an access without the right",
            fixture -> {
              Fixture.Access access = fixture.access(RmaRight.READ);
              access.rma().write(access.local(), 0, access.remote(), 0, 8);
            },
            "RemoteAccessException: sm:///DIR/PID/ID#N: the peer has not exposed the "
                + "memory for WRITE: it must pass this right to Rma.expose or Rma.allocate"),
        new Mistake(
            "an atomic operation on a word that is not aligned",
            fixture -> {
              Fixture.Access access = fixture.access(RmaRight.ATOMIC);
              access.rma().fetchAndAdd(access.local(), 0, access.remote(), 4, 1);
            },
            "IllegalArgumentException: the remote word at offset 4 is not aligned: the "
                + "memory's address plus the offset must be a multiple of 8"),
        new Mistake(
            "a handle that is too long",
            fixture -> RmaHandle.of(new byte[99]),
            "RemoteAccessException: invalid handle: 99 bytes; a handle has 1 to 28"),
        new Mistake(
            "a handle that is not one",
            fixture -> fixture.pair("").client().rma().attach(RmaHandle.of(new byte[8])),
            "RemoteAccessException: sm:///DIR/PID/ID#N: invalid handle: not created by "
                + "this version of Ferrule; use the same release on both sides"),
        new Mistake(
            "the handle of closed memory",
            fixture -> {
              Fixture.Pair pair = fixture.pair("");
              var exposed = pair.server().rma().expose(fixture.memory(64), RmaRight.READ);
              exposed.close();
              pair.client().rma().attach(exposed.handle());
            },
            "RemoteAccessException: sm:///DIR/PID/ID#N: the memory is not exposed: the "
                + "handle belongs to another connection, is of this side's own memory or was "
                + "forged, or the peer has revoked the access"),
        new Mistake(
            "an access to memory that was closed",
            fixture -> {
              Fixture.Pair pair = fixture.pair("");
              var exposed = pair.server().rma().expose(fixture.memory(64), RmaRight.READ);
              Rma rma = pair.client().rma();
              var remote = rma.attach(exposed.handle());
              exposed.close();
              rma.await(rma.read(pair.client().register(fixture.memory(8)), 0, remote, 0, 8));
            },
            "RemoteAccessException: sm:///DIR/PID/ID#N: the peer has closed the ExposedMemory, "
                + "which revokes the access"),
        new Mistake(
            "memory exposed without a right",
            fixture -> fixture.pair("").server().rma().expose(fixture.memory(64)),
            "IllegalArgumentException: no right given: expose memory for reads, writes "
                + "or atomic operations"),
        new Mistake(
            "read-only memory exposed for writes",
            fixture ->
                fixture
                    .pair("")
                    .server()
                    .rma()
                    .expose(fixture.memory(64).asReadOnly(), RmaRight.WRITE),
            "IllegalArgumentException: read-only memory cannot be exposed for writes or "
                + "atomic operations"),
        new Mistake(
            "more memory than the option allocatable",
            fixture ->
                fixture.pair("?allocatable=1MiB").server().rma().allocate(4L << 20, RmaRight.READ),
            "ResourceExhaustedException: sm:///DIR/PID/ID#N: no room for 4194304 bytes "
                + "in the 1048576 bytes that this side can allocate for this connection; close "
                + "other allocated memory, or raise the option allocatable"),
        new Mistake(
            "an allocation of 0 bytes",
            fixture -> fixture.pair("").server().rma().allocate(0, RmaRight.READ),
            "IllegalArgumentException: invalid size: 0 bytes; the minimum is 1"),
        new Mistake(
            "memory of the heap",
            fixture -> fixture.pair("").client().register(HELLO),
            "IllegalArgumentException: heap memory cannot be registered; allocate native "
                + "memory by an Arena"),
        new Mistake(
            "memory of one thread",
            fixture -> {
              try (Arena arena = Arena.ofConfined()) {
                fixture.pair("").client().register(arena.allocate(8));
              }
            },
            "IllegalArgumentException: memory confined to one thread cannot be "
                + "registered; use Arena.ofShared()"),
        new Mistake(
            "registered memory that is closed",
            fixture -> {
              Connection client = fixture.pair("").client();
              RegisteredMemory memory = client.register(fixture.memory(8));
              memory.close();
              client.sender().sendRegistered(memory, 0, 8);
            },
            "IllegalStateException: the registered memory is closed; register it again"),
        new Mistake(
            "the id of no operation",
            fixture -> fixture.pair("").client().rma().await(3),
            "IllegalArgumentException: unknown operation id 3; the last id is 0"));
  }

  static List<Mistake> threads() {
    return List.of(
        new Mistake(
            "a receiver that two threads use",
            fixture -> {
              Connection client = fixture.pair("?wait=block").client();
              Thread other =
                  Thread.ofPlatform()
                      .daemon()
                      .name("other")
                      .start(() -> {
                        try {
                          client.receiver().receive();
                        } catch (RuntimeException e) {
                          // the connection is closed at the end
                        }
                      });
              fixture.keep(other::join);
              fixture.keep(client);
              awaitBlocked(other);
              Thread.currentThread().setName("main");
              client.receiver().receive(Duration.ZERO);
            },
            "IllegalStateException: the receiver of sm:///DIR/PID/ID#N was used by two "
                + "threads at the same time, \"main\" while \"other\" was in a call; only one "
                + "thread at a time may use it"));
  }

  /** Waits until the thread is in a call of the JDK or of Ferrule that waits. */
  private static void awaitBlocked(Thread thread) {
    while (!isReceiving(thread)) {
      Thread.onSpinWait();
    }
  }

  private static boolean isReceiving(Thread thread) {
    for (StackTraceElement frame : thread.getStackTrace()) {
      if (frame.getClassName().endsWith("SmReceiver")) {
        return true;
      }
    }
    return false;
  }
}
