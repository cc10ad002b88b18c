// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.process;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.Ferrule;
import dev.ferrule.FerruleException;
import dev.ferrule.Listener;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.RemoteMemory;
import dev.ferrule.RmaHandle;
import dev.ferrule.RmaRight;
import dev.ferrule.SendRegion;
import dev.ferrule.sm.ring.RingTestPoint;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/** The roles of the other process of a test: the main class of {@link OtherProcess}. */
public final class Peer {

  private Peer() {}

  /**
   * Runs a role until it is killed, or the connection or standard input ends.
   *
   * @param arguments the role, and its arguments
   * @throws IOException if standard input cannot be read
   */
  public static void main(String[] arguments) throws IOException {
    switch (arguments[0]) {
      case "echo" -> echo(URI.create(arguments[1]));
      case "listen" -> listen(URI.create(arguments[1]), Integer.parseInt(arguments[2]));
      case "connect" -> connect(URI.create(arguments[1]));
      case "hear" -> hear(URI.create(arguments[1]));
      case "send" -> send(URI.create(arguments[1]), Integer.parseInt(arguments[2]));
      case "end" -> end(URI.create(arguments[1]), Integer.parseInt(arguments[2]));
      case "batch" -> batch(URI.create(arguments[1]), Integer.parseInt(arguments[2]));
      case "exit" -> exit(URI.create(arguments[1]));
      case "expose" -> expose(URI.create(arguments[1]), Long.parseLong(arguments[2]));
      case "write" -> write(URI.create(arguments[1]));
      case "serve" -> serve(URI.create(arguments[1]));
      case "load" -> load(URI.create(arguments[1]));
      case "several" -> SteppedPeer.severalSenders(URI.create(arguments[1]));
      case "stopped sender" ->
          SteppedPeer.sender(URI.create(arguments[1]), RingTestPoint.valueOf(arguments[2]));
      case "stopped receiver" ->
          SteppedPeer.receiver(URI.create(arguments[1]), RingTestPoint.valueOf(arguments[2]));
      case "limited server" -> LimitedPeer.server(URI.create(arguments[1]));
      case "limited client" -> LimitedPeer.client(URI.create(arguments[1]));
      default -> throw new IllegalArgumentException(arguments[0]);
    }
  }

  static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }

  /** Echoes the messages of one client. */
  private static void echo(URI address) {
    try (Listener listener = Ferrule.listen(address)) {
      say(listener.uri().toString());
      try (Connection connection = listener.accept()) {
        while (true) {
          try (ReceiveRegion message = connection.receiver().receive()) {
            connection.sender().send(message.segment());
          }
        }
      }
    } catch (ConnectionClosedException | EndOfStreamException e) {
      say("closed");
    }
  }

  /** Accepts some clients, and leaves them idle. */
  private static void listen(URI address, int clients) throws IOException {
    Listener listener = Ferrule.listen(address);
    say(listener.uri().toString());
    List<Connection> connections = new ArrayList<>();
    for (int i = 0; i < clients; i++) {
      connections.add(listener.accept());
    }
    say("accepted");
    System.in.read();
  }

  /** Connects, and stays idle. */
  private static void connect(URI address) throws IOException {
    Connection connection = Ferrule.connect(address);
    say(connection.uri().toString());
    System.in.read();
  }

  /** Connects, and prints how the connection ends. */
  private static void hear(URI address) {
    try (Connection connection = Ferrule.connect(address)) {
      connection.receiver().receive().close();
    } catch (FerruleException e) {
      say(String.valueOf(e));
    }
  }

  /** Connects, and sends numbered messages. */
  private static void send(URI address, int count) throws IOException {
    Connection connection = Ferrule.connect(address);
    for (int i = 0; i < count; i++) {
      connection.sender().send(MemorySegment.ofArray(new int[] {i}));
    }
    say("sent");
    System.in.read();
  }

  /** Connects, sends numbered messages, and ends them; the connection stays open. */
  private static void end(URI address, int count) throws IOException {
    Connection connection = Ferrule.connect(address);
    for (int i = 0; i < count; i++) {
      connection.sender().send(MemorySegment.ofArray(new int[] {i}));
    }
    connection.sender().close();
    say("ended");
    System.in.read();
  }

  /** Connects, sends numbered messages, and then leaves as many more staged. */
  private static void batch(URI address, int count) throws IOException {
    Connection connection = Ferrule.connect(address);
    for (int i = 0; i < count; i++) {
      connection.sender().send(MemorySegment.ofArray(new int[] {i}));
    }
    for (int i = 0; i < count; i++) {
      SendRegion region = connection.sender().claim(4);
      region.segment().set(ValueLayout.JAVA_INT_UNALIGNED, 0, count + i);
      region.stage(); // staged in the ring, but not published
    }
    connection.sender().claim(100_000); // payload lines claimed, and nothing sent
    say("in the middle");
    System.in.read();
  }

  /** Connects and exits without closing anything. */
  private static void exit(URI address) {
    Connection connection = Ferrule.connect(address);
    connection.sender().send(MemorySegment.ofArray(new int[] {1}));
    say("sent");
    System.exit(0);
  }

  /** Exposes memory, and sends the sum of its bytes on each request. */
  private static void expose(URI address, long size) {
    try (Connection connection = Ferrule.connect(address)) {
      MemorySegment memory = Arena.global().allocate(size, 8);
      byte[] handle = connection.rma().expose(memory, RmaRight.values()).handle().toBytes();
      connection.sender().send(MemorySegment.ofArray(handle));
      while (true) {
        connection.receiver().receive().close();
        long sum = 0;
        for (long i = 0; i < size; i++) {
          sum = 31 * sum + memory.get(ValueLayout.JAVA_BYTE, i);
        }
        connection.sender().send(MemorySegment.ofArray(new long[] {sum}));
      }
    } catch (ConnectionClosedException | EndOfStreamException e) {
      say("closed");
    }
  }

  /** Writes repeatedly to the memory whose handle it receives. */
  private static void write(URI address) {
    try (Connection connection = Ferrule.connect(address)) {
      byte[] handle;
      try (ReceiveRegion message = connection.receiver().receive()) {
        handle = message.segment().toArray(ValueLayout.JAVA_BYTE);
      }
      RemoteMemory remote = connection.rma().attach(RmaHandle.of(handle));
      MemorySegment memory = Arena.global().allocate(remote.length());
      memory.fill((byte) 1);
      RegisteredMemory local = connection.register(memory);
      say("writing");
      while (true) {
        connection.rma().await(connection.rma().write(local, 0, remote, 0, remote.length()));
      }
    } catch (ConnectionClosedException | EndOfStreamException e) {
      say("closed");
    }
  }

  /** Accepts clients, and runs the load that each requests, see {@link Load}. */
  private static void serve(URI address) throws IOException {
    Listener listener = Ferrule.listen(address);
    say(listener.uri().toString());
    Thread.ofPlatform()
        .daemon()
        .start(() -> {
          while (true) {
            ConnectionRequest request = listener.nextRequest();
            Load load = Load.of(request.payload());
            Connection connection = request.accept();
            Thread.ofPlatform().daemon().start(() -> runAndClose(connection, load));
          }
        });
    System.in.read();
    System.exit(0); // whatever the state of the connections
  }

  /** Connects once for each load, and again when all these connections have ended. */
  private static void load(URI address) {
    while (true) {
      List<Thread> threads = new ArrayList<>();
      for (Load load : Load.values()) {
        Connection connection = Ferrule.connect(address, Load.options(load.counterpart()));
        threads.add(Thread.ofPlatform().start(() -> runAndClose(connection, load)));
      }
      threads.forEach(Peer::join);
      say("all have ended");
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static void runAndClose(Connection connection, Load load) {
    try (connection) {
      load.run(connection);
    } catch (FerruleException e) {
      say(load + " ended by " + e.getClass().getSimpleName());
    } catch (Throwable e) {
      say(load + " failed: " + e);
    }
  }
}
