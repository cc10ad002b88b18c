// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.messages;

import dev.ferrule.ConnectionOptions;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Addresses, options, listeners and the handshake of {@code sm}. */
final class AddressMistakes {

  private AddressMistakes() {}

  static List<Mistake> addresses() {
    return List.of(
        new Mistake(
            "an address without a scheme",
            fixture -> fixture.connect("app"),
            "InvalidAddressException: app: the address has no scheme; write one such as "
                + "magicring://10.0.0.1:18515 or sendrecv://10.0.0.1:18515 or sm:///dev/shm/app"),
        new Mistake(
            "the scheme of no provider",
            fixture -> fixture.connect("tcp://host:1"),
            "ProviderUnavailableException: tcp://host:1: no provider for the scheme "
                + "'tcp' on the class path or module path, only for magicring, sendrecv, sm; Ferrule has "
                + "dev.ferrule:ferrule-spi-sm, -sendrecv and -magicring"),
        new Mistake(
            "a relative path",
            fixture -> fixture.connect("sm:app"),
            "InvalidAddressException: sm:app: the path must be absolute; write "
                + "sm:///DIRECTORY, such as sm:///tmp/app"),
        new Mistake(
            "a host in an address of sm",
            fixture -> fixture.connect("sm://host/app"),
            "InvalidAddressException: sm://host/app: an address of sm has no host, but "
                + "this one has 'host'; write three slashes: sm:///host/app"),
        new Mistake(
            "the root directory",
            fixture -> fixture.connect("sm:///"),
            "InvalidAddressException: sm:///: the root directory cannot hold endpoints; "
                + "name a directory, such as sm:///tmp/app"),
        new Mistake(
            "a path too long for a socket",
            fixture -> fixture.listenOn("sm:///tmp/" + "x".repeat(100)),
            "InvalidAddressException: sm:///tmp/"
                + "x".repeat(100)
                + ": the path is too long: the endpoint's socket would have a path of 125 bytes, "
                + "and a Unix domain socket's path has at most 107; use a shorter directory, "
                + "such as one in /dev/shm"),
        new Mistake(
            "a file as the directory",
            fixture -> fixture.listenOn(file(fixture)),
            "InvalidAddressException: sm:///DIR/file: /DIR/file is a file, not a "
                + "directory; use another path"),
        new Mistake(
            "a directory in which no user may create files",
            fixture -> fixture.listenOn("sm:///sys/kernel/ferrule"),
            "InvalidAddressException: sm:///sys/kernel/ferrule: permission denied: "
                + "mkdir(/sys/kernel/ferrule): Operation not permitted (errno 1); choose a "
                + "directory that this user may write to, and run both processes as the same "
                + "user, or with access=group"),
        new Mistake(
            "a file system without files",
            fixture -> fixture.listenOn("sm:///proc/ferrule"),
            "InvalidAddressException: sm:///proc/ferrule: mkdir(/proc/ferrule): No such "
                + "file or directory (errno 2); no file can be created there; choose another "
                + "directory, such as one in /dev/shm"));
  }

  private static String file(Fixture fixture) throws Exception {
    return "sm://" + Files.createFile(fixture.directory().resolve("file"));
  }

  static List<Mistake> options() {
    return List.of(
        new Mistake(
            "an unknown option",
            fixture -> fixture.listen("?colour=red"),
            "InvalidOptionException: sm:///DIR?colour=red: unknown option 'colour'; "
                + "valid options: NAMES"),
        new Mistake(
            "a value that is not one of the choices",
            of("wait=hurry"),
            "InvalidOptionException: sm:///DIR?wait=hurry: option wait=hurry is not "
                + "valid: wait is one of spin, adaptive, block"),
        new Mistake(
            "a size that is not a size",
            of("maxMessage=tall"),
            "InvalidOptionException: sm:///DIR?maxMessage=tall: option maxMessage=tall "
                + "is not valid: maxMessage is a size from 1 to 1GiB, such as 65536, 64KiB or "
                + "1MiB"),
        new Mistake(
            "a size out of range",
            of("maxMessage=4GiB"),
            "InvalidOptionException: sm:///DIR?maxMessage=4GiB: option maxMessage=4GiB "
                + "is not valid: maxMessage is a size from 1 to 1GiB, such as 65536, 64KiB or "
                + "1MiB"),
        new Mistake(
            "a number out of range",
            of("lanes=99"),
            "InvalidOptionException: sm:///DIR?lanes=99: option lanes=99 is not valid: "
                + "lanes is a whole number from 0 to 63"),
        new Mistake(
            "a time without a unit",
            of("connectTimeout=5"),
            "InvalidOptionException: sm:///DIR?connectTimeout=5: option connectTimeout=5 "
                + "is not valid: connectTimeout is a time from 1ms to 24h, such as 250ms, 5s "
                + "or 2m"),
        new Mistake(
            "neither on nor off",
            of("singleReceiver=maybe"),
            "InvalidOptionException: sm:///DIR?singleReceiver=maybe: option "
                + "singleReceiver=maybe is not valid: singleReceiver is one of on, off"),
        new Mistake(
            "an option given twice",
            of("lanes=1&lanes=2"),
            "InvalidOptionException: sm:///DIR?lanes=1&lanes=2: option 'lanes' is given "
                + "twice; remove one of them"),
        new Mistake(
            "a value without a name",
            of("=1"),
            "InvalidOptionException: sm:///DIR?=1: the query has an option without a "
                + "name; write ?name=value&name=value"),
        new Mistake(
            "a buffer shorter than a message",
            of("maxMessage=1MiB&buffer=4KiB"),
            "InvalidOptionException: sm:///DIR?maxMessage=1MiB&buffer=4KiB: option "
                + "buffer=4KiB is not valid: the buffer must hold at least one message of "
                + "maxMessage=1MiB"),
        new Mistake(
            "an option that the query must not override",
            fixture ->
                fixture.connect(
                    fixture.address() + "?access=group",
                    ConnectionOptions.builder().set("access", "user").build()),
            "InvalidOptionException: sm:///DIR?access=group: the program has set "
                + "access=user, and the address's query access=group: the query cannot "
                + "override this option; remove it there, or let the program set access=group"),
        new Mistake(
            "a prefix that is no scheme",
            fixture ->
                fixture.connect(
                    fixture.address(), ConnectionOptions.builder().set("shm.ring", "1MiB").build()),
            "InvalidOptionException: sm:///DIR: unknown scheme in option 'shm.ring'; "
                + "known schemes: magicring, sendrecv, sm"));
  }

  private static Mistake.Action of(String query) {
    return fixture -> fixture.listen("?" + query);
  }

  static List<Mistake> handshake() {
    return List.of(
        new Mistake(
            "no listener",
            fixture -> fixture.connect(fixture.address()),
            "ConnectionRefusedException: sm:///DIR: connection refused: no listener at "
                + "sm:///DIR (start one, or check the path): no live listener in the directory"),
        new Mistake(
            "no directory",
            fixture -> fixture.connect(fixture.address() + "/none"),
            "ConnectionRefusedException: sm:///DIR/none: connection refused: no listener "
                + "at sm:///DIR/none (start one, or check the path): the directory does not "
                + "exist"),
        new Mistake(
            "several listeners",
            fixture -> {
              fixture.listen("");
              fixture.listen("");
              fixture.connect(fixture.address());
            },
            "ConnectionRefusedException: sm:///DIR: connection refused: the directory has 2 "
                + "listeners (connect to one of them: sm:///DIR/PID/ID, sm:///DIR/PID/ID)"),
        new Mistake(
            "a listener whose process was killed",
            fixture -> {
              LostPeer peer = fixture.keep(LostPeer.start(fixture.address()));
              String address = peer.address();
              peer.kill();
              fixture.connect(address);
            },
            "ConnectionRefusedException: sm:///DIR/PID/ID: connection refused: no "
                + "listener at sm:///DIR/PID/ID (start one, or check the path): no process "
                + "owns the endpoint"),
        new Mistake(
            "an address in use",
            fixture -> fixture.listenOn(fixture.listen("").uri().toString()),
            "AddressInUseException: sm:///DIR/PID/ID: address in use: a live process "
                + "owns the endpoint; close its listener and connections, or use another number"),
        new Mistake(
            "a listener that does not accept",
            fixture -> fixture.connect(fixture.listen("").uri() + "?connectTimeout=50ms"),
            "OperationTimeoutException: sm:///DIR/PID/ID?connectTimeout=50ms: connect "
                + "timed out: the listener's process is alive but did not accept in time; "
                + "check that its program calls accept and is not stopped"),
        new Mistake(
            "no client",
            fixture -> fixture.listen("").accept(Duration.ZERO),
            "OperationTimeoutException: sm:///DIR/PID/ID: accept timed out: no "
                + "connection request"),
        new Mistake(
            "a listener that rejects the client",
            fixture -> {
              var listener = fixture.listen("");
              var connecting = fixture.connecting(listener.uri().toString());
              listener.nextRequest().reject("busy".getBytes(StandardCharsets.UTF_8));
              join(connecting);
            },
            "ConnectionRejectedException: sm:///DIR/PID/ID: the listener rejected the "
                + "connection with payload() of 4 bytes"),
        new Mistake(
            "a payload that is too long",
            fixture ->
                fixture.connect(
                    fixture.listen("").uri().toString(),
                    ConnectionOptions.builder().payload(new byte[10_000]).build()),
            "MessageTooLongException: sm:///DIR/PID/ID: payload too long: 10000 bytes "
                + "exceed the limit of 1024 bytes; send the rest in a message"),
        new Mistake(
            "a client with more memory than the listener permits",
            fixture -> {
              var listener = fixture.listen("?maxPeerMemory=128MiB");
              var connecting = fixture.connecting(listener.uri() + "?allocatable=1GiB");
              fixture.accepting(listener);
              join(connecting);
            },
            "ResourceExhaustedException: sm:///DIR/PID/ID?allocatable=1GiB: the listener "
                + "lacks a resource for another connection: this client's memory is larger "
                + "than the listener permits: mmap(a file of 1123377152 bytes, which exceeds "
                + "the maximum of 134217728): File too large (errno 27); lower the client's "
                + "options allocatable, buffer or rmaBuffer, or raise the listener's "
                + "maxPeerMemory and maxMapped"),
        new Mistake(
            "a closed listener",
            fixture -> {
              var listener = fixture.listen("");
              listener.close();
              listener.accept();
            },
            "ConnectionClosedException: sm:///DIR/PID/ID: the listener was closed"));
  }

  private static void join(CompletableFuture<?> future) throws Exception {
    try {
      future.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }
}
