// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.process;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Ferrule;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import dev.ferrule.sm.ring.RingTestHook;
import dev.ferrule.sm.ring.RingTestPoint;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The roles of {@link Peer} in which a thread stops forever at a step. */
final class SteppedPeer {

  /** Number of threads that continue when one has stopped. */
  static final int OTHERS = 3;

  /** Number of messages that each of them sends from then on. */
  static final int MESSAGES = 300;

  private static final Set<RingTestPoint> WAKING =
      EnumSet.of(
          RingTestPoint.SENDER_WAKES, RingTestPoint.SENDER_MARKED, RingTestPoint.SENDER_HAS_WOKEN);

  static {
    RingTestHook.onReached(Victim::reached);
  }

  /** Without keepalives, at which a thread that missed a wake-up would check again. */
  private static final ConnectionOptions OPTIONS =
      ConnectionOptions.builder().set(StandardOptions.PEER_TIMEOUT, Duration.ZERO).build();

  private SteppedPeer() {}

  /** A thread that stops forever when it reaches its step. */
  private static final class Victim extends Thread {
    private final RingTestPoint step;
    private final CountDownLatch stopped = new CountDownLatch(1);

    Victim(RingTestPoint step, Runnable work) {
      super(work, "victim at " + step);
      this.step = step;
      setDaemon(true);
    }

    static void reached(RingTestPoint step) {
      if (Thread.currentThread() instanceof Victim victim && victim.step == step) {
        victim.stopped.countDown();
        while (true) {
          LockSupport.park();
        }
      }
    }

    boolean hasStopped() {
      return stopped.getCount() == 0;
    }

    void awaitStopped() {
      try {
        if (!stopped.await(60, TimeUnit.SECONDS)) {
          throw new AssertionError("it never reached " + step);
        }
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  /**
   * For each step of a sender: connects, lets a thread stop there, and lets others with senders of
   * their own continue, on that connection and on one that they share all the time.
   */
  static void severalSenders(URI address) throws IOException {
    Connection common = Ferrule.connect(address, OPTIONS);
    List<Sender> commonSenders = new ArrayList<>();
    for (int i = 0; i <= OTHERS; i++) {
      commonSenders.add(common.newSender());
    }
    List<Connection> connections = new ArrayList<>(); // none is closed
    int[] commonNumbers = new int[1 + OTHERS];
    for (RingTestPoint step : senderSteps()) {
      Connection connection = Ferrule.connect(address, OPTIONS);
      connections.add(connection);
      boolean wakes = WAKING.contains(step);
      Sender itsSender = connection.newSender();
      Victim victim =
          new Victim(step, wakes ? () -> sendToASleeper(itsSender) : () -> sendAndAbort(itsSender));
      victim.start();
      List<Thread> others = new ArrayList<>();
      for (int i = 1; i <= OTHERS; i++) {
        int thread = i;
        Sender sender = i == 1 ? connection.sender() : connection.newSender();
        others.add(
            new Thread(() ->
                commonNumbers[thread] =
                    sendOn(
                        sender, commonSenders.get(thread), thread, commonNumbers[thread], victim)));
      }
      if (wakes) {
        victim.awaitStopped(); // before others wake the receiver
      }
      others.forEach(Thread::start);
      victim.awaitStopped();
      Peer.say("stopped at " + step);
      others.forEach(SteppedPeer::join);
    }
    for (int thread = 1; thread <= OTHERS; thread++) {
      Numbered.send(commonSenders.get(thread), thread, commonNumbers[thread], true);
    }
    Peer.say("the others have sent all");
    System.in.read();
  }

  /** Returns the steps of a sender. */
  static List<RingTestPoint> senderSteps() {
    return Arrays.stream(RingTestPoint.values())
        .filter(step -> step.name().startsWith("SENDER_") || step.name().startsWith("RECORD_"))
        .toList();
  }

  /** Sends as thread 0, and aborts at times. */
  private static void sendAndAbort(Sender sender) {
    for (int number = 0; ; number++) {
      Numbered.send(sender, 0, number, false);
      sender.claim(number % 3_000).abort();
    }
  }

  /** Sends as thread 0, each time to a receiver that has had the time to fall asleep. */
  private static void sendToASleeper(Sender sender) {
    for (int number = 0; ; number++) {
      LockSupport.parkNanos(10_000_000);
      Numbered.send(sender, 0, number, false);
    }
  }

  /** Sends until the victim has stopped, and then some more; returns the next common number. */
  private static int sendOn(
      Sender sender, Sender common, int thread, int firstCommon, Victim victim) {
    int commonNumber = firstCommon;
    int after = 0;
    for (int number = 0; after < MESSAGES; number++) {
      if (victim.hasStopped()) {
        after++;
      }
      Numbered.send(sender, thread, number, after == MESSAGES);
      if (number % 4 == 0) {
        Numbered.send(common, thread, commonNumber++, false);
      }
    }
    return commonNumber;
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Connects, sends, and stops at a step of a send. */
  static void sender(URI address, RingTestPoint step) throws IOException {
    Connection connection = Ferrule.connect(address, OPTIONS);
    Victim victim = new Victim(step, () -> sendInBatches(connection.sender()));
    victim.start();
    victim.awaitStopped();
    Peer.say("stopped");
    System.in.read();
  }

  /** Every other message is a batch of two, the second of which is published before the first. */
  private static void sendInBatches(Sender sender) {
    for (int number = 0; ; number += 3) {
      Numbered.send(sender, 0, number, false);
      Numbered.add(sender, 0, number + 1);
      Numbered.add(sender, 0, number + 2);
      sender.flush();
    }
  }

  /** Connects, lets the other side fill the ring, receives, and stops at a step of a reception. */
  static void receiver(URI address, RingTestPoint step) throws IOException {
    Connection connection = Ferrule.connect(address, OPTIONS);
    Peer.say("connected");
    System.in.read();
    Victim victim = new Victim(step, () -> receive(connection));
    victim.start();
    victim.awaitStopped();
    Peer.say("stopped");
    System.in.read();
  }

  private static void receive(Connection connection) {
    while (true) {
      try (ReceiveRegion message = connection.receiver().receive()) {
        message.length();
      }
    }
  }
}
