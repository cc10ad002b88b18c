// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Encoding, and decoding of valid and invalid hellos. */
class HelloFormatTest {

  private static final HelloFormat FORMAT =
      new HelloFormat(0x41424344, 3, 2, (kind, body) -> body.bytes()[0] == 1);

  private static final HelloBody BODY = new HelloBody(0x81, new byte[] {1, 2});

  private static byte[] hello() {
    return FORMAT.encode(Hello.Kind.CONNECT, 0x1234_5678, BODY, new byte[] {9});
  }

  @Test
  void shouldKeepBodyAndPayload() {
    Hello read = FORMAT.decode(hello()).orElseThrow();

    assertThat(read.version()).isEqualTo(3);
    assertThat(read.kind()).isEqualTo(Hello.Kind.CONNECT);
    assertThat(read.accessTable()).isEqualTo(0x1234_5678);
    assertThat(read.body().flags()).isEqualTo(0x81);
    assertThat(read.body().bytes()).containsExactly(1, 2);
    assertThat(read.payload()).containsExactly(9);
  }

  @Test
  void shouldRejectDataThatIsTooShortOrHasAnotherMagicNumber() {
    byte[] other = hello();
    other[0]++;

    assertThat(FORMAT.decode(Arrays.copyOf(hello(), FORMAT.size() - 1))).isEmpty();
    assertThat(FORMAT.decode(other)).isEmpty();
  }

  @Test
  void shouldRejectAPayloadThatIsLongerThanTheData() {
    byte[] cut = Arrays.copyOf(hello(), FORMAT.size());

    assertThat(FORMAT.decode(cut)).isEmpty();
  }

  @Test
  void shouldReportAnotherVersionWhateverItsKinds() {
    byte[] newer = FORMAT.encode(new Hello(200, Hello.Kind.CONNECT, 0, BODY, new byte[0]));
    newer[5] = 77;

    Hello read = FORMAT.decode(newer).orElseThrow();

    assertThat(read.version()).isEqualTo(200);
    assertThat(read.kind()).isEqualTo(Hello.Kind.VERSION_MISMATCH);
  }

  @Test
  void shouldValidateTheBodyOnlyOfKindsThatHaveOne() {
    HelloBody wrong = new HelloBody(0, new byte[] {5, 5});

    assertThat(FORMAT.decode(FORMAT.encode(Hello.Kind.ACCEPT, 0, wrong, new byte[0]))).isEmpty();
    assertThat(FORMAT.decode(FORMAT.encode(Hello.Kind.REFUSE, new byte[0]))).isPresent();
  }
}
