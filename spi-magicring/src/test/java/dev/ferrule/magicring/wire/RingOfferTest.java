// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.rdma.connection.Hello;
import java.util.HexFormat;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the bytes of the offer, and which ones are rejected. */
final class RingOfferTest {

  private static final RingOffer DUPLEX =
      new RingOffer(true, false, 0x11223344, 3 * 4096, 0x2000, 0x0102);
  private static final RingOffer SIMPLEX = new RingOffer(false, true, 0, 0, 0, 7);

  private static final int TABLE = 0x55667788;

  private static byte[] encode(Hello.Kind kind, RingOffer offer, byte... payload) {
    return RingOffer.HELLO.encode(kind, TABLE, offer.body(), payload);
  }

  @Test
  void shouldHaveTheBytesThatTheProtocolPageSpecifies() {
    assertThat(HexFormat.of().formatHex(encode(Hello.Kind.CONNECT, DUPLEX, (byte) 9)))
        .isEqualTo(
            "46726d72"
                + "01000101"
                + "88776655"
                + "44332211"
                + "03000000"
                + "00200000"
                + "02010000"
                + "09");
  }

  @Test
  void shouldLeaveSpaceForAPayloadOf28BytesInAConnectRequest() {
    assertThat(RingOffer.HELLO.size()).isEqualTo(56 - 28);
  }

  @Test
  void shouldSurviveARoundTrip() {
    Hello hello = RingOffer.HELLO.decode(encode(Hello.Kind.ACCEPT, DUPLEX)).orElseThrow();

    assertThat(RingOffer.of(hello)).isEqualTo(DUPLEX);
  }

  @Test
  void shouldHaveNoRingOnTheSideThatOnlySends() {
    Hello hello = RingOffer.HELLO.decode(encode(Hello.Kind.CONNECT, SIMPLEX)).orElseThrow();

    assertThat(RingOffer.of(hello)).isEqualTo(SIMPLEX);
  }

  static Stream<Arguments> nonsense() {
    return Stream.of(
        wrong("an unknown flag", Hello.Kind.CONNECT, DUPLEX, it -> it[7] = 4),
        wrong("no ring", Hello.Kind.CONNECT, DUPLEX, it -> it[16] = 0),
        wrong("no message", Hello.Kind.ACCEPT, DUPLEX, it -> it[21] = 0),
        wrong("a message of 2 GiB", Hello.Kind.CONNECT, DUPLEX, it -> it[23] = (byte) 0x80),
        wrong("a window of 0", Hello.Kind.CONNECT, DUPLEX, it -> it[24] = it[25] = 0),
        wrong("a window of 33026", Hello.Kind.CONNECT, DUPLEX, it -> it[25] = (byte) 0x81),
        wrong("a byte after it", Hello.Kind.CONNECT, DUPLEX, it -> it[26] = 1),
        wrong("a key without a ring", Hello.Kind.CONNECT, SIMPLEX, it -> it[12] = 1),
        wrong("a receiver without a ring", Hello.Kind.ACCEPT, SIMPLEX, it -> {}));
  }

  private static Arguments wrong(
      String what, Hello.Kind kind, RingOffer offer, Consumer<byte[]> spoil) {
    byte[] bytes = encode(kind, offer);
    spoil.accept(bytes);
    return Arguments.of(what, bytes);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("nonsense")
  void shouldRejectAHelloWith(String what, byte[] bytes) {
    assertThat(RingOffer.HELLO.decode(bytes)).as(what).isEmpty();
  }

  @Test
  void shouldReadAnyBytesWithoutAnException() {
    Random random = new Random(3);
    for (int i = 0; i < 100_000; i++) {
      byte[] bytes = encode(Hello.Kind.CONNECT, DUPLEX);
      for (int n = random.nextInt(4); n >= 0; n--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      }
      assertThatCode(() -> RingOffer.HELLO.decode(bytes).map(RingOffer::of))
          .doesNotThrowAnyException();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 0x8000})
  void shouldRejectAWindowThatTheHelloCannotEncode(int window) {
    assertThatThrownBy(() -> RingOffer.checkWindow(window))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(String.valueOf(window));
  }

  @ParameterizedTest
  @ValueSource(longs = {-4096, 0, 1, 4095, 4097, (1L << 44)})
  void shouldRejectInvalidRingSizes(long size) {
    assertThat(RingOffer.isRingSize(size)).isFalse();
  }
}
