// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.process;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.FerruleException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.RemoteMemory;
import dev.ferrule.Rma;
import dev.ferrule.RmaHandle;
import dev.ferrule.RmaRight;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** The behaviour of one side of a busy connection, until the connection ends. */
enum Load {
  /** Sends numbered messages of many lengths, as fast as possible. */
  STREAM {
    @Override
    void run(Connection connection) {
      for (int i = 0; true; i++) {
        send(connection, i);
      }
    }
  },

  /** Receives them, and fails if one is missing, duplicated, or damaged. */
  COUNT {
    @Override
    void run(Connection connection) {
      for (int i = 0; true; i++) {
        receive(connection, i);
      }
    }
  },

  /** Sends a message, and waits for its echo. */
  ASK {
    @Override
    void run(Connection connection) {
      for (int i = 0; true; i++) {
        send(connection, i);
        receive(connection, i);
      }
    }
  },

  /** Echoes messages. */
  ECHO {
    @Override
    void run(Connection connection) {
      while (true) {
        try (ReceiveRegion message = connection.receiver().receive()) {
          connection.sender().send(message.segment());
        }
      }
    }
  },

  /** Exposes memory, and sleeps. */
  EXPOSE {
    @Override
    void run(Connection connection) {
      MemorySegment memory = Arena.ofAuto().allocate(EXPOSED);
      byte[] handle =
          connection.rma().expose(memory, RmaRight.READ, RmaRight.WRITE).handle().toBytes();
      connection.sender().send(MemorySegment.ofArray(handle));
      connection.receiver().receive().close();
    }
  },

  /** Writes to that memory, and fails if it reads back anything else. */
  ACCESS {
    @Override
    void run(Connection connection) {
      byte[] handle;
      try (ReceiveRegion message = connection.receiver().receive()) {
        handle = message.segment().toArray(ValueLayout.JAVA_BYTE);
      }
      Rma rma = connection.rma();
      RemoteMemory remote = rma.attach(RmaHandle.of(handle));
      MemorySegment memory = Arena.ofAuto().allocate(EXPOSED);
      RegisteredMemory local = connection.register(memory);
      for (int i = 0; true; i++) {
        memory.fill((byte) i);
        rma.await(rma.write(local, 0, remote, 0, EXPOSED));
        memory.fill((byte) ~i);
        rma.await(rma.read(local, 0, remote, 0, EXPOSED));
        check(memory.get(ValueLayout.JAVA_BYTE, EXPOSED - 1) == (byte) i, "what was read", i);
      }
    }
  },

  /** Sends by several threads, each of which opens and closes one sender after the other. */
  LANES {
    @Override
    void run(Connection connection) {
      for (int thread = 1; thread < LANE_THREADS; thread++) {
        int first = thread;
        Thread.ofPlatform()
            .name("lane " + thread)
            .daemon()
            .start(() -> {
              try {
                sendByLanes(connection, first);
              } catch (FerruleException e) {
                return; // the connection has ended, as the other thread notices
              }
            });
      }
      sendByLanes(connection, 0);
    }
  },

  /** Receives them, and fails if one of a sender is missing, duplicated, or out of order. */
  COUNT_LANES {
    @Override
    void run(Connection connection) {
      Map<Integer, Integer> next = new HashMap<>(); // by sender
      while (true) {
        try (ReceiveRegion message = connection.receiver().receive()) {
          MemorySegment segment = message.segment();
          int sender = segment.get(ValueLayout.JAVA_INT_UNALIGNED, 0);
          int number = segment.get(ValueLayout.JAVA_INT_UNALIGNED, Integer.BYTES);
          Integer expected = next.getOrDefault(sender, 0);
          check(number == expected, "the order of sender " + sender + " at message", expected);
          if (number == MESSAGES_OF_A_SENDER - 1) {
            next.remove(sender);
          } else {
            next.put(sender, number + 1);
          }
        }
      }
    }
  };

  private static final int LANE_THREADS = 3;
  private static final int MESSAGES_OF_A_SENDER = 100;

  private static final int EXPOSED = 100_000;
  private static final int MAX_LENGTH = 5000;

  /**
   * Runs until the connection ends.
   *
   * @throws dev.ferrule.FerruleException with the reason for which the connection ended
   */
  abstract void run(Connection connection);

  private static void sendByLanes(Connection connection, int first) {
    for (int number = first; true; number += LANE_THREADS) {
      try (Sender sender = connection.newSender()) {
        for (int i = 0; i < MESSAGES_OF_A_SENDER; i++) {
          sender.send(MemorySegment.ofArray(new int[] {number, i}));
        }
      }
    }
  }

  /** Returns the other side's behaviour. */
  Load counterpart() {
    return values()[ordinal() ^ 1];
  }

  private byte[] payload() {
    return name().getBytes(StandardCharsets.US_ASCII);
  }

  /** Returns options by which the other side selects its behaviour. */
  static ConnectionOptions options(Load wanted) {
    return ConnectionOptions.builder().payload(wanted.payload()).build();
  }

  static Load of(byte[] payload) {
    return valueOf(new String(payload, StandardCharsets.US_ASCII));
  }

  private static int length(int number) {
    return Integer.BYTES + number * 7919 % MAX_LENGTH & ~3;
  }

  static void send(Connection connection, int number) {
    SendRegion region = connection.sender().claim(length(number & 0xffff));
    MemorySegment segment = region.segment();
    segment.fill((byte) number);
    segment.set(ValueLayout.JAVA_INT_UNALIGNED, 0, number);
    region.commit();
  }

  static void receive(Connection connection, int number) {
    try (ReceiveRegion message = connection.receiver().receive()) {
      MemorySegment segment = message.segment();
      check(message.length() == length(number & 0xffff), "the length of message", number);
      check(segment.get(ValueLayout.JAVA_INT_UNALIGNED, 0) == number, "the number", number);
      for (long i = Integer.BYTES; i < segment.byteSize(); i++) {
        check(segment.get(ValueLayout.JAVA_BYTE, i) == (byte) number, "a byte of", number);
      }
    }
  }

  private static void check(boolean right, String what, int number) {
    if (!right) {
      throw new AssertionError("wrong is " + what + " " + number);
    }
  }
}
