// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.messages;

import dev.ferrule.Connection;
import dev.ferrule.RmaRight;
import dev.ferrule.posix.Errno;
import dev.ferrule.verbs.AsyncEvent;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;

/** The providers over RDMA, on a simulated device. */
final class RdmaMistakes {

  private static final MemorySegment HELLO = MemorySegment.ofArray(new byte[5]);

  private RdmaMistakes() {}

  static List<Mistake> sendrecv() {
    return List.of(
        new Mistake(
            "no port",
            fixture -> fixture.connect("sendrecv://127.0.0.1"),
            "InvalidAddressException: sendrecv://127.0.0.1: the port is missing: write "
                + "sendrecv://HOST:PORT with a port from 0 to 65535"),
        new Mistake(
            "port 0",
            fixture -> fixture.connect("sendrecv://127.0.0.1:0"),
            "InvalidAddressException: sendrecv://127.0.0.1:PORT: invalid port 0: no "
                + "listener has it; write the listener's port"),
        new Mistake(
            "a port out of range",
            fixture -> fixture.listenOn("sendrecv://127.0.0.1:65536"),
            "InvalidAddressException: sendrecv://127.0.0.1:PORT: invalid port 65536: "
                + "write sendrecv://HOST:PORT with a port from 0 to 65535"),
        new Mistake(
            "a path",
            fixture -> fixture.listenOn("sendrecv://127.0.0.1:1/app"),
            "InvalidAddressException: sendrecv://127.0.0.1:PORT/app: an address has only "
                + "a host and a port: write sendrecv://HOST:PORT"),
        new Mistake(
            "no host",
            fixture -> fixture.listenOn("sendrecv:///app"),
            "InvalidAddressException: sendrecv:///app: an address needs a host and a "
                + "port: write sendrecv://HOST:PORT"),
        new Mistake(
            "an unknown host",
            fixture -> fixture.connect("sendrecv://no-such-host.invalid:1"),
            "InvalidAddressException: sendrecv://no-such-host.invalid:1: unknown host: "
                + "check the name, or write its IP address"),
        new Mistake(
            "an option of magicring",
            fixture -> fixture.listen("?window=8"),
            "InvalidOptionException: sendrecv://127.0.0.1:PORT?window=8: unknown option "
                + "'window'; valid options: NAMES"),
        new Mistake(
            "a number out of range",
            fixture -> fixture.listen("?rnrRetry=8"),
            "InvalidOptionException: sendrecv://127.0.0.1:PORT?rnrRetry=8: option "
                + "rnrRetry=8 is not valid: rnrRetry is a whole number from 0 to 7"),
        new Mistake(
            "no listener",
            fixture -> fixture.connect("sendrecv://127.0.0.1:9"),
            "ConnectionRefusedException: sendrecv://127.0.0.1:PORT: connection refused: "
                + "no listener at that port (start one, or check the port) (reject reason 8)"),
        new Mistake(
            "an address in use",
            fixture -> fixture.listenOn(fixture.listen("").uri().toString()),
            "AddressInUseException: sendrecv://127.0.0.1:PORT: "
                + "rdma_bind_addr(127.0.0.1:PORT): Address already in use (errno 98); another "
                + "listener has that port: use another port"),
        new Mistake(
            "a listener that does not accept",
            fixture -> fixture.connect(fixture.listen("").uri() + "?connectTimeout=50ms"),
            "OperationTimeoutException: sendrecv://127.0.0.1:PORT?connectTimeout=50ms: "
                + "connect timed out: the listener has not accepted within connectTimeout "
                + "(raise it, or call accept() more often at the listener)"),
        new Mistake(
            "no client",
            fixture -> fixture.listen("").accept(Duration.ZERO),
            "OperationTimeoutException: sendrecv://127.0.0.1:PORT: accept timed out: no "
                + "connection request"),
        new Mistake(
            "a message longer than the peer receives",
            fixture ->
                fixture.pair("?maxMessage=4KiB").client().sender().send(fixture.memory(5_000)),
            "MessageTooLongException: sendrecv://127.0.0.1:PORT#N: message too long: "
                + "5000 bytes exceed the limit of 4096 bytes; send it in parts, or raise "
                + "maxMessage on the receiving side, and over RDMA sendBuffer on this one"),
        new Mistake(
            "no message",
            fixture -> fixture.pair("").client().receiver().receive(Duration.ZERO),
            "OperationTimeoutException: sendrecv://127.0.0.1:PORT#N: receive timed out: "
                + "no message arrived"),
        new Mistake(
            "all buffers held by the program",
            fixture -> {
              Fixture.Pair pair = fixture.pair("?maxMessage=64&receives=4&credits=on");
              while (true) {
                pair.server().sender().trySend(HELLO);
                pair.client().receiver().receive(Duration.ofSeconds(60));
              }
            },
            "IllegalStateException: all receive buffers are held by this program, with 4 "
                + "messages: free some before receiving more, or raise the option receives"),
        new Mistake(
            "an access without the right",
            fixture -> {
              Fixture.Access access = fixture.access(RmaRight.READ);
              access.rma().write(access.local(), 0, access.remote(), 0, 8);
            },
            "RemoteAccessException: sendrecv://127.0.0.1:PORT#N: the peer has not "
                + "exposed the memory for WRITE: it must pass this right to Rma.expose or "
                + "Rma.allocate"),
        new Mistake(
            "remote memory access without a handshake",
            fixture -> fixture.pair("?hello=off&credits=off").client().rma(),
            "UnsupportedOperationException: remote memory access needs a handshake, "
                + "which hello=off disables: sendrecv://127.0.0.1:PORT#N"));
  }

  static List<Mistake> device() {
    return List.of(
        new Mistake(
            "no locked memory",
            fixture -> {
              var listener = fixture.listen("");
              fixture.fabric().failNext("regMr", Errno.ENOMEM);
              fixture.connect(listener.uri().toString());
            },
            "ResourceExhaustedException: sendrecv://127.0.0.1:PORT: ibv_reg_mr(4456448 "
                + "bytes): Cannot allocate memory (errno 12); raise the limit of locked memory "
                + "(ulimit -l unlimited, memlock in limits.conf, or LimitMEMLOCK)"),
        new Mistake(
            "no queue pair",
            fixture -> {
              var listener = fixture.listen("");
              fixture.fabric().fail("createQp", Errno.ENOMEM);
              fixture.connect(listener.uri().toString());
            },
            "ResourceExhaustedException: sendrecv://127.0.0.1:PORT: rdma_create_qp(108 "
                + "sends, 68 receives, 0 bytes inline, 2 pieces): Cannot allocate memory "
                + "(errno 12); out of resources: use fewer or smaller queues, or close "
                + "connections"),
        new Mistake(
            "a link that is cut",
            fixture -> {
              Fixture.Pair pair = fixture.pair("");
              fixture.fabric().setRetryTime(Duration.ofMillis(10));
              fixture.fabric().cutOne();
              while (true) {
                pair.client().sender().send(HELLO, Duration.ofSeconds(60));
              }
            },
            "PeerLostException: sendrecv://127.0.0.1:PORT#N: retransmissions exceeded: "
                + "the peer's device does not answer (its host is dead, the link is cut, or a software "
                + "device has no processor); "
                + "see the options ackTimeout and retries (RETRY_EXCEEDED, vendor error 0)"),
        new Mistake(
            "a fatal error of the device",
            fixture -> {
              Connection client = fixture.pair("").client();
              fixture.fabric().report(AsyncEvent.Type.DEVICE_FATAL);
              client.receiver().receive();
            },
            "PeerLostException: sendrecv://127.0.0.1:PORT#N: the RDMA device reports a "
                + "fatal error, or is gone"));
  }

  static List<Mistake> magicring() {
    return List.of(
        new Mistake(
            "an option of sendrecv",
            fixture -> fixture.listen("?receives=8"),
            "InvalidOptionException: magicring://127.0.0.1:PORT?receives=8: unknown "
                + "option 'receives'; valid options: NAMES"),
        new Mistake(
            "a window out of range",
            fixture -> fixture.listen("?window=0"),
            "InvalidOptionException: magicring://127.0.0.1:PORT?window=0: option "
                + "window=0 is not valid: window is a whole number from 1 to 4096"),
        new Mistake(
            "a receive on the side that only sends",
            fixture -> fixture.pair("?simplex=on").client().receiver().receive(),
            "IllegalStateException: the connection is simplex, and this side only sends: "
                + "magicring://127.0.0.1:PORT#N"),
        new Mistake(
            "a send on the side that only receives",
            fixture -> fixture.pair("?simplex=on").server().sender().send(HELLO),
            "IllegalStateException: the connection is simplex, and this side only "
                + "receives: magicring://127.0.0.1:PORT#N"),
        new Mistake(
            "a client of a simplex listener that is not simplex",
            fixture -> {
              var listener = fixture.listen("?simplex=on");
              fixture.accepting(listener);
              fixture.connect(listener.uri().toString());
            },
            "ConnectionRefusedException: magicring://127.0.0.1:PORT: connection refused: "
                + "the listener only receives (simplex=on); connect with simplex=on as well"));
  }
}
