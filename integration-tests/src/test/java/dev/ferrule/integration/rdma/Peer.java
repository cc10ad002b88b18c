// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionRequest;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.ExposedMemory;
import dev.ferrule.FerruleException;
import dev.ferrule.Listener;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.RmaRight;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * The other process of a test, on this host or another: listens, and handles each connection as its
 * client's payload requests. Most tests need a connection of a certain kind rather than a process
 * of their own, and starting a JVM takes seconds in an emulated machine.
 */
public final class Peer {

  /** Accepts, and does nothing. */
  static final String IDLE = "idle";

  /** Echoes messages. */
  static final String ECHO = "echo";

  /** Checks that numbered messages arrive, and reports their number when the client closes. */
  static final String COUNT = "count";

  /** {@code flood N}: sends N numbered messages, and closes. */
  static final String FLOOD = "flood";

  /** {@code stream}: sends numbered messages forever. */
  static final String STREAM = "stream";

  /**
   * Exposes {@link #BOARD_SIZE} bytes, sends their handle, and answers each message with their
   * checksum.
   */
  static final String BOARD = "board";

  /** The size of the exposed memory. */
  static final int BOARD_SIZE = 1 << 20;

  /** {@code exit N}: sends N numbered messages, and exits without closing. */
  static final String EXIT = "exit";

  private Peer() {}

  /**
   * Listens until standard input ends.
   *
   * @param listeners arguments of {@link Wires#listen}, such as {@code ?receives=8}; a listener for
   *     each, whose addresses are printed
   * @throws IOException if standard input cannot be read
   */
  public static void main(String[] listeners) throws IOException {
    for (String what : listeners) {
      Listener listener = Wires.listen(what);
      print(listener.uri().toString());
      Thread.ofPlatform().daemon().start(() -> serve(listener));
    }
    while (System.in.read() >= 0) {
      // waits for the end of the input
    }
    System.exit(0); // regardless of the connections' state
  }

  private static synchronized void print(String line) {
    System.out.println(line);
    System.out.flush();
  }

  private static void serve(Listener listener) {
    while (true) {
      try {
        ConnectionRequest request = listener.nextRequest();
        String job = new String(request.payload(), StandardCharsets.UTF_8);
        Connection connection = request.accept(new byte[0]);
        Thread.ofPlatform().daemon().start(() -> serve(connection, job));
      } catch (FerruleException e) {
        System.err.println("peer: a client could not be accepted: " + e);
      }
    }
  }

  private static void serve(Connection connection, String job) {
    String[] words = job.split(" ");
    try {
      switch (words[0]) {
        case IDLE -> {}
        case ECHO -> echo(connection);
        case COUNT -> count(connection);
        case BOARD -> board(connection);
        case FLOOD -> {
          send(connection, Integer.parseInt(words[1]));
          connection.close(Task.PATIENCE);
        }
        case STREAM -> send(connection, Integer.MAX_VALUE);
        case EXIT -> {
          long last = send(connection, Integer.parseInt(words[1]));
          connection.sender().await(last);
          Runtime.getRuntime().halt(0);
        }
        default -> throw new IllegalArgumentException(job);
      }
    } catch (FerruleException e) {
      if (!(e instanceof ConnectionClosedException || e instanceof EndOfStreamException)) {
        System.err.println("peer: " + job + " ended: " + e); // the test may not see the reason
      }
      print(job + " ended: " + e.getClass().getSimpleName());
      connection.close();
    } catch (Throwable e) {
      print(job + " failed: " + e);
      connection.close();
    }
  }

  private static long send(Connection connection, int count) {
    long last = 0;
    for (int i = 0; i < count; i++) {
      last = Numbered.send(connection.sender(), i);
    }
    return last;
  }

  private static void echo(Connection connection) {
    while (true) {
      try (ReceiveRegion message = connection.receiver().receive()) {
        connection.sender().send(message.segment());
      }
    }
  }

  private static void board(Connection connection) {
    MemorySegment board = Arena.ofAuto().allocate(BOARD_SIZE);
    ExposedMemory exposed = connection.rma().expose(board, RmaRight.READ, RmaRight.WRITE);
    connection.sender().send(MemorySegment.ofArray(exposed.handle().toBytes()));
    while (true) {
      connection.receiver().receive().close();
      connection.sender().send(MemorySegment.ofArray(new long[] {sum(board)}));
    }
  }

  /** Returns the checksum of memory, which depends on the bytes' order. */
  static long sum(MemorySegment memory) {
    long sum = 0;
    for (long i = 0; i < memory.byteSize(); i += Long.BYTES) {
      sum = sum * 31 + memory.get(ValueLayout.JAVA_LONG_UNALIGNED, i);
    }
    return sum;
  }

  private static void count(Connection connection) {
    int count = 0;
    try {
      while (true) {
        try (ReceiveRegion message = connection.receiver().receive()) {
          Numbered.check(message, count);
          count++;
        }
      }
    } catch (EndOfStreamException e) {
      print("counted " + count);
      connection.close();
    }
  }
}
