// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.rdma.connection.Hello;
import dev.ferrule.sendrecv.wire.Immediate;
import dev.ferrule.sendrecv.wire.Offer;
import dev.ferrule.support.Fuzzer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Hellos and immediate data with any content, as a peer may send them. */
class SendRecvFuzzTest {

  private static final int RECEIVES = 64;
  private static final int MAX_GRANT = 0x7fff;

  @Test
  void anOfferIsWithinTheLimitsOrItsHelloIsNone() {
    byte[] payload = new byte[28];
    new Fuzzer("offers of sendrecv", 20_000)
        .allocates(4 << 10)
        .bytes(
            List.of(
                Offer.HELLO.encode(
                    Hello.Kind.CONNECT, 5, new Offer(true, 65_536, 64).body(), payload),
                Offer.HELLO.encode(
                    Hello.Kind.ACCEPT, 5, new Offer(false, 1, MAX_GRANT).body(), payload)),
            bytes -> {
              Optional<Hello> hello = Offer.HELLO.decode(bytes);
              if (hello.isEmpty() || hello.get().version() != Offer.VERSION) {
                return false;
              }
              if (hello.get().kind() == Hello.Kind.CONNECT
                  || hello.get().kind() == Hello.Kind.ACCEPT) {
                Offer offer = Offer.of(hello.get());
                assertThat(offer.maxMessage()).isBetween(1, 1 << 30);
                assertThat(offer.granted()).isBetween(1, MAX_GRANT);
              }
              return true;
            });
  }

  private static byte[] immediates(int... values) {
    ByteBuffer bytes = ByteBuffer.allocate(values.length * Integer.BYTES);
    bytes.order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().put(values);
    return bytes.array();
  }

  /** Each 4 bytes are the immediate data of one message. */
  @Test
  void countsOnlyIncreaseByWhatAPeerMayReport() {
    new Fuzzer("immediate data of sendrecv", 20_000)
        .allocates(8 << 10)
        .bytes(
            List.of(
                immediates(
                    Immediate.of(Immediate.MESSAGE, RECEIVES, 0),
                    Immediate.of(Immediate.GRANT, RECEIVES + 20, 0),
                    Immediate.of(Immediate.MESSAGE, RECEIVES + 40, 1),
                    Immediate.of(Immediate.END, RECEIVES + 40, 1),
                    Immediate.of(Immediate.GOODBYE, RECEIVES + 40, 1)),
                immediates(
                    Immediate.of(Immediate.GRANT, RECEIVES + MAX_GRANT, 4),
                    Immediate.of(Immediate.GRANT, RECEIVES + 2 * MAX_GRANT, 8))),
            bytes -> {
              Window window = new Window(false, true, RECEIVES, RECEIVES);
              ByteBuffer input = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
              while (input.remaining() >= Integer.BYTES) {
                if (!isTaken(window, input.getInt())) {
                  return false; // the connection ends
                }
              }
              return true;
            });
  }

  private static boolean isTaken(Window window, int immediate) {
    long granted = window.grantedByPeer();
    boolean isTaken = window.take(immediate);
    assertThat(window.grantedByPeer() - granted).isBetween(0L, isTaken ? MAX_GRANT : 0L);
    if (!isTaken) {
      return false;
    }
    boolean isMessage = Immediate.type(immediate) == Immediate.MESSAGE;
    if (!(isMessage ? window.messageReceived() : window.controlReceived())) {
      return false;
    }
    if (isMessage) {
      window.reposted(1);
    } else {
      window.controlReposted();
    }
    if (window.isGrantDue() && window.mayGrant()) {
      int answer = window.immediate(Immediate.GRANT);
      assertThat(Immediate.type(answer)).isEqualTo(Immediate.GRANT);
    }
    return true;
  }
}
