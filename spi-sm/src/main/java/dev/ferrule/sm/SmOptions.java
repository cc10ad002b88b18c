// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.InvalidOptionException;
import dev.ferrule.Option;
import dev.ferrule.Readiness;
import dev.ferrule.StandardOptions;
import dev.ferrule.posix.SealedFile;
import dev.ferrule.sm.os.Access;
import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.sm.rma.CopyPath;
import dev.ferrule.spi.ResolvedOptions;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The provider's own options, and their effect on the memory of a connection. */
final class SmOptions {

  /** Number of longest messages that fit in the buffer, unless its size is given. */
  private static final int MESSAGES_IN_BUFFER = 4;

  private static final long MIN_BUFFER = 64 * 1024;
  private static final long MIN_BUFFER_OF_INLINE = 4 * 1024;

  private static final long MAX_BUFFER = (long) RingLayout.MAX_LINES * RingLayout.LINE;

  static final Option<Long> MAX_MESSAGE = StandardOptions.MAX_MESSAGE.withDefault(1L << 20);

  /**
   * The standard option. A peer's death is detected at once, so this applies only to a stopped
   * peer; the default allows for a debugging session.
   */
  static final Option<Duration> PEER_TIMEOUT =
      StandardOptions.PEER_TIMEOUT.withDefault(Duration.ofSeconds(60));

  static final Option<Long> RING =
      Option.size(
          "ring",
          4 << 10,
          1 << RingLayout.MAX_RING_SHIFT,
          1 << 20,
          "memory for messages of up to "
              + RingLayout.INLINE_MAX
              + " bytes that this side receives, rounded up to a power of two; each takes its length"
              + " and 8 bytes, rounded up to a multiple of 8, and an eighth of the ring at most");

  static final Option<Long> BUFFER =
      Option.size(
          "buffer",
          0,
          MAX_BUFFER,
          0,
          "memory for messages of more than "
              + RingLayout.INLINE_MAX
              + " bytes that this side receives; 0 is "
              + MESSAGES_IN_BUFFER
              + " times maxMessage, or one page if no message is that long");

  static final Option<Integer> LANES =
      Option.count(
          "lanes",
          0,
          RingLayout.MAX_LANES,
          8,
          "how many senders the peer may have at a time beside its first, by Connection.newSender:"
              + " each has a ring and a buffer of this side's, which take memory only once there is"
              + " such a sender");

  static final Option<CopyPath.Choice> RMA =
      Option.choice(
          "rma",
          CopyPath.Choice.class,
          CopyPath.Choice.AUTO,
          "how this side copies to and from the peer's memory: by the KNEM driver, by cross-memory"
              + " attach, or by fragments through a mapped file; auto is the first of them that"
              + " works. knem also pins this side's exposed memory; its process must not fork(2)"
              + " meanwhile; set it on both sides");

  private static final long MAX_RMA_BUFFER = 1 << 30;

  static final Option<Long> RMA_BUFFER =
      Option.size(
          "rmaBuffer",
          4 << 10,
          MAX_RMA_BUFFER,
          2 << 20,
          "memory for the fragments of rma=mmap, allocated on first use");

  private static final long MAX_ALLOCATABLE = 1L << 40;

  static final Option<Long> ALLOCATABLE =
      Option.size(
          "allocatable",
          0,
          MAX_ALLOCATABLE,
          64 << 20,
          "maximum memory that this side can allocate by Rma.allocate: address space of both sides,"
              + " which takes memory only when it is allocated. More than the peer's maxPeerMemory"
              + " is refused");

  /** More than the memory of a peer that does not set the option allocatable. */
  static final Option<Long> MAX_PEER_MEMORY =
      Option.size(
          "maxPeerMemory",
          64 << 10,
          2 * MAX_ALLOCATABLE,
          64L << 30,
          "the most memory that a peer may pass to this side: its rings, buffers, rmaBuffer and"
              + " allocatable, which take address space of this process. A peer with more is refused");

  /**
   * By default half of a process's address space on x86-64, since the JVM needs addresses as well.
   */
  static final Option<Long> MAX_MAPPED =
      Option.size(
          "maxMapped",
          1 << 20,
          1L << 47,
          1L << 46,
          "the most address space that all connections of this process may take together; one that"
              + " would exceed it is not made");

  static final Option<Boolean> SINGLE_RECEIVER =
      Option.flag(
          "singleReceiver",
          false,
          "listener: whether Listener.receiver() receives from all its connections");

  static final Option<Access> ACCESS =
      Option.choice(
              "access",
              Access.class,
              Access.USER,
              "the permitted peers: processes of the same user, or also those of the same group, which"
                  + " both sides must set")
          .withoutQueryOverride();

  private SmOptions() {}

  static List<Option<?>> all() {
    List<Option<?>> result = new ArrayList<>(StandardOptions.all());
    result.set(result.indexOf(StandardOptions.MAX_MESSAGE), MAX_MESSAGE);
    result.set(result.indexOf(StandardOptions.PEER_TIMEOUT), PEER_TIMEOUT);
    result.add(RING);
    result.add(BUFFER);
    result.add(LANES);
    result.add(RMA);
    result.add(RMA_BUFFER);
    result.add(ALLOCATABLE);
    result.add(MAX_PEER_MEMORY);
    result.add(MAX_MAPPED);
    result.add(SINGLE_RECEIVER);
    result.add(ACCESS);
    return List.copyOf(result);
  }

  static boolean hasReadiness(ResolvedOptions options) {
    return options.get(StandardOptions.READINESS) != Readiness.Interest.OFF;
  }

  static SharedRing.OnDemand onDemand(ResolvedOptions options) {
    return new SharedRing.OnDemand(
        options.get(LANES), options.get(RMA_BUFFER), options.get(ALLOCATABLE));
  }

  static SealedFile.Limits limits(ResolvedOptions options) {
    long process = options.get(MAX_MAPPED);
    return new SealedFile.Limits(Math.min(options.get(MAX_PEER_MEMORY), process), process);
  }

  static RingLayout layout(URI uri, ResolvedOptions options) {
    long maxMessage = options.get(MAX_MESSAGE);
    long buffer = options.get(BUFFER);
    int ringShift = Long.SIZE - Long.numberOfLeadingZeros(options.get(RING) - 1);
    if (maxMessage <= RingLayout.inlineMax(ringShift)) {
      buffer = Math.max(MIN_BUFFER_OF_INLINE, buffer); // the file has a page in any case
    } else if (buffer == 0) {
      buffer = Math.min(MAX_BUFFER, Math.max(MIN_BUFFER, MESSAGES_IN_BUFFER * maxMessage));
    } else if (buffer < maxMessage) {
      throw new InvalidOptionException(
          uri,
          ("option buffer=%s is not valid: the buffer must hold at least one message of"
                  + " maxMessage=%s")
              .formatted(BUFFER.format(buffer), MAX_MESSAGE.format(maxMessage)),
          null);
    }
    return new RingLayout(
        ringShift, (int) ((buffer + RingLayout.LINE - 1) / RingLayout.LINE), (int) maxMessage);
  }
}
