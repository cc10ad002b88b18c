// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.rdma.connection.Hello;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the bytes of the hello against {@code docs/protocol-sendrecv.md}. */
class OfferTest {

  private static final HexFormat HEX = HexFormat.of();

  private static byte[] hello(Offer offer) {
    return Offer.HELLO.encode(Hello.Kind.CONNECT, 0, offer.body(), new byte[0]);
  }

  @Test
  void shouldHaveTheBytesThatTheProtocolPageSpecifies() {
    byte[] bytes =
        Offer.HELLO.encode(
            Hello.Kind.ACCEPT,
            0x55667788,
            new Offer(true, 0x100000, 0x1234).body(),
            new byte[] {7, 8});

    assertThat(HEX.formatHex(bytes))
        .isEqualTo(
            "46727372" + "01" + "01" + "02" + "01" + "88776655" + "00001000" + "34120000" + "0708");
  }

  @Test
  void shouldEncodeZerosInAHelloWithoutAnOffer() {
    assertThat(HEX.formatHex(Offer.HELLO.encode(Hello.Kind.REFUSE, new byte[] {'n'})))
        .isEqualTo("46727372" + "01" + "03" + "01" + "00" + "000000000000000000000000" + "6e");
  }

  @Test
  void shouldDecodeAPaddedHello() {
    Offer offer = new Offer(false, 4096, 8);
    byte[] bytes = Offer.HELLO.encode(Hello.Kind.CONNECT, 0, offer.body(), new byte[] {1, 2, 3});

    Hello read = Offer.HELLO.decode(Arrays.copyOf(bytes, 56)).orElseThrow();

    assertThat(Offer.of(read)).isEqualTo(offer);
    assertThat(read.kind()).isEqualTo(Hello.Kind.CONNECT);
    assertThat(read.payload()).containsExactly(1, 2, 3);
  }

  @ParameterizedTest
  @CsvSource({"0, 8", "-1, 8", "1073741825, 8", "4096, 0", "4096, 32768", "4096, -1"})
  void shouldRejectInvalidNumbers(int maxMessage, int granted) {
    assertThat(Offer.HELLO.decode(hello(new Offer(true, maxMessage, granted)))).isEmpty();
  }
}
