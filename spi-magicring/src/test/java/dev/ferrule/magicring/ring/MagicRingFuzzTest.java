// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.magicring.wire.Acknowledgment;
import dev.ferrule.magicring.wire.RingOffer;
import dev.ferrule.rdma.connection.Hello;
import dev.ferrule.rdma.queue.MessageQueue;
import dev.ferrule.support.Fuzzer;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Hellos, acknowledgments and messages with any content, as a peer may send them. */
class MagicRingFuzzTest {

  private static final int SIZE = 4096;
  private static final int WINDOW = 4;
  private static final int LONGEST = 512;

  @Test
  void anOfferIsWithinTheLimitsOrItsHelloIsNone() {
    byte[] payload = new byte[28];
    RingOffer usual = new RingOffer(false, false, 9, 1 << 20, 65_536, 64);
    RingOffer plain = new RingOffer(true, false, -1, 4096L * 0xffff_ffffL, 1 << 30, 0x7fff);
    RingOffer sends = new RingOffer(false, true, 0, 0, 0, 1);
    new Fuzzer("offers of magicring", 20_000)
        .allocates(4 << 10)
        .bytes(
            List.of(
                RingOffer.HELLO.encode(Hello.Kind.CONNECT, 5, usual.body(), payload),
                RingOffer.HELLO.encode(Hello.Kind.ACCEPT, 5, plain.body(), payload),
                RingOffer.HELLO.encode(Hello.Kind.CONNECT, 5, sends.body(), payload)),
            bytes -> {
              Optional<Hello> hello = RingOffer.HELLO.decode(bytes);
              if (hello.isEmpty() || hello.get().version() != RingOffer.VERSION) {
                return false;
              }
              if (hello.get().kind() == Hello.Kind.CONNECT
                  || hello.get().kind() == Hello.Kind.ACCEPT) {
                RingOffer offer = RingOffer.of(hello.get());
                assertThat(offer.maxMessage()).isBetween(0, RingOffer.MAX_MESSAGE);
                assertThat(offer.window()).isBetween(1, RingOffer.MAX_WINDOW);
                if (offer.ringSize() > 0) {
                  Mapping mapping = offer.plain() ? Mapping.PLAIN : Mapping.MAGIC;
                  RingSpace space = new RingSpace(offer.ringSize(), mapping, WINDOW);
                  assertThat(space.longest()).isBetween(1, RingOffer.MAX_MESSAGE);
                  assertThat(space.tryReserve(space.longest())).isTrue();
                }
              }
              return true;
            });
  }

  private static byte[] acknowledgments(long... numbers) {
    byte[] bytes = new byte[numbers.length / 4 * Acknowledgment.SIZE];
    for (int i = 0; i < numbers.length; i += 4) {
      Acknowledgment.write(
          MemorySegment.ofArray(bytes),
          (long) i / 4 * Acknowledgment.SIZE,
          (int) numbers[i],
          (int) numbers[i + 1],
          numbers[i + 2],
          numbers[i + 3]);
    }
    return bytes;
  }

  /** Before each control message, this side sends as many messages as permitted. */
  @Test
  void anAcknowledgmentFreesOnlyWhatWasSent() {
    for (Mapping mapping : Mapping.values()) {
      new Fuzzer("acknowledgments of magicring, " + mapping, 20_000)
          .bytes(
              List.of(
                  acknowledgments(
                      Acknowledgment.ACK,
                      0,
                      2,
                      208,
                      Acknowledgment.WANT,
                      0,
                      2,
                      208,
                      Acknowledgment.ACK,
                      0,
                      3,
                      312,
                      Acknowledgment.END,
                      0,
                      4,
                      416,
                      Acknowledgment.GOODBYE,
                      0,
                      7,
                      728),
                  acknowledgments(
                      Acknowledgment.ACK,
                      0,
                      4,
                      416,
                      Acknowledgment.ACK,
                      1,
                      8,
                      832,
                      Acknowledgment.WANT,
                      2,
                      12,
                      1248)),
              bytes -> acknowledge(new RingSpace(SIZE, mapping, WINDOW), bytes));
    }
  }

  private static boolean acknowledge(RingSpace space, byte[] bytes) {
    MemorySegment memory = MemorySegment.ofArray(bytes);
    long acked = 0;
    long sent = 0;
    for (long at = 0; at + Acknowledgment.SIZE <= bytes.length; at += Acknowledgment.SIZE) {
      while (space.tryReserve(100)) {
        assertThat(space.place(100, 97)).isBetween(0L, SIZE - 1L);
        sent++;
      }
      if (space.isWantDue()) {
        space.wantSent();
      }
      assertThat(sent - acked).isBetween(1L, (long) WINDOW);
      long freed = Acknowledgment.messagesFreed(memory, at);
      long freedBytes = Acknowledgment.bytesFreed(memory, at);
      String objection =
          switch (Acknowledgment.type(memory, at)) {
            case Acknowledgment.ACK -> space.takeAck(freed, freedBytes);
            case Acknowledgment.WANT, Acknowledgment.END, Acknowledgment.GOODBYE ->
                space.takeNumbers(freed, freedBytes);
            default -> "a control message has an unknown type";
          };
      objection =
          objection == null ? space.takeWants(Acknowledgment.wantsTaken(memory, at)) : objection;
      if (objection != null) {
        assertThat(objection).hasSizeBetween(10, 200);
        return false; // the connection ends
      }
      assertThat(freed).isBetween(acked, sent);
      acked = freed;
    }
    return true;
  }

  private static byte[] lengths(int... values) {
    ByteBuffer bytes = ByteBuffer.allocate(values.length * Integer.BYTES);
    bytes.order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().put(values);
    return bytes.array();
  }

  /** Each 4 bytes are the immediate data of a message; each third message stays held. */
  @Test
  void aMessageIsInTheFreePartOfTheRingOrRefused() {
    for (Mapping mapping : Mapping.values()) {
      new Fuzzer("messages of magicring, " + mapping, 20_000)
          .bytes(
              List.of(
                  lengths(0, 1, 8, 9, LONGEST, 100, 7, LONGEST, LONGEST, LONGEST, LONGEST),
                  lengths(LONGEST, LONGEST, 0, 0, 8, 8, 8, 8, 8, 8, 8)),
              bytes ->
                  receive(
                      new RingMessages(SIZE, mapping, WINDOW, LONGEST, Acknowledge.BATCHED),
                      mapping,
                      bytes));
    }
  }

  private static boolean receive(RingMessages messages, Mapping mapping, byte[] bytes) {
    ByteBuffer input = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 1; input.remaining() >= Integer.BYTES; i++) {
      int length = input.getInt();
      int slot = messages.arrived(length);
      if (slot == RingMessages.REFUSED) {
        assertThat(messages.objection()).hasSizeBetween(10, 200);
        return false; // the connection ends
      }
      assertThat(length).isBetween(0, LONGEST);
      long end = mapping == Mapping.PLAIN ? SIZE : SIZE + LONGEST;
      assertThat(messages.offset(slot)).isBetween(0L, Math.min(SIZE - 1L, end - length));
      assertThat(MessageQueue.number(messages.take())).isEqualTo(slot);
      assertThat(messages.heldMessages()).isBetween(1, WINDOW);
      assertThat(messages.freeBytes()).isBetween(0L, (long) SIZE);
      if (i % 3 != 0) {
        messages.free(slot);
      }
      if (messages.isAckDue()) {
        boolean ignored = messages.acknowledge();
      }
    }
    return true;
  }
}
