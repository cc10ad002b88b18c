// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.ferrule.FerruleException;
import dev.ferrule.support.Fuzzer;
import dev.ferrule.verbs.cm.CmEvent;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The private data of connect requests and answers, as any host may send it. */
class HelloFuzzTest {

  private static final int BODY = 8;
  private static final HelloFormat FORMAT =
      new HelloFormat(0x72737246, 3, BODY, (kind, body) -> body.bytes()[0] == 1);
  private static final URI ADDRESS = URI.create("test://host:1");

  private static List<byte[]> samples() {
    List<byte[]> result = new ArrayList<>();
    byte[] reason = "no queue pairs".getBytes(StandardCharsets.UTF_8);
    for (Hello.Kind kind : Hello.Kind.values()) {
      HelloBody body = new HelloBody(1, new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
      result.add(FORMAT.encode(kind, 77, body, reason));
      result.add(FORMAT.encode(kind, new byte[FORMAT.maxReason()]));
    }
    return result;
  }

  @Test
  void aHelloIsOfItsLengthOrNone() {
    new Fuzzer("hellos of RDMA", 20_000)
        .allocates(4 << 10)
        .bytes(
            samples(),
            bytes -> {
              Optional<Hello> decoded = FORMAT.decode(bytes);
              decoded.ifPresent(hello -> {
                assertThat(hello.body().bytes()).hasSize(BODY);
                assertThat(hello.payload().length).isLessThan(bytes.length);
                if (hello.version() == FORMAT.version()) {
                  byte[] again = FORMAT.encode(hello);
                  assertThat(bytes).startsWith(again); // the device appends zeros
                }
              });
              return decoded.isPresent();
            });
  }

  @Test
  void everyAnswerOfAListenerIsAnExceptionThatNamesIt() {
    RdmaProtocol protocol = mock(RdmaProtocol.class);
    when(protocol.hello()).thenReturn(FORMAT);
    when(protocol.scheme()).thenReturn("sendrecv");
    new Fuzzer("rejections of RDMA", 3_000)
        .permits(FerruleException.class)
        .explainsIn(6 * 256 + 500) // each byte of the payload may be escaped
        .allocates(1 << 20) // for the escaping
        .bytes(
            samples(),
            bytes -> {
              int choice = Arrays.hashCode(bytes); // not by the length: the length of most is valid
              boolean isByKernel = choice % 4 == 0;
              int status = isByKernel && bytes.length > 0 ? bytes[0] : CmEvent.REJECTED_BY_CONSUMER;
              CmEvent event = new CmEvent(CmEvent.Type.REJECTED, status, 1, 0, bytes);
              FerruleException exception = Rejections.of(ADDRESS, protocol, choice % 3 != 0, event);
              if (FORMAT.decode(bytes).isPresent()) {
                throw exception; // its text is checked
              }
              return exception.getMessage() != null;
            });
  }

  @Test
  void everyReasonIsShortenedToItsLimit() {
    new Fuzzer("reasons of RDMA", 3_000)
        .allocates(256 << 10)
        .text(
            List.of(
                "ibv_create_qp failed: ENOMEM (out of memory); raise the limit of locked memory"
                    + " (ulimit -l) of the listener, or use fewer connections with smaller rings",
                "the listener was closed",
                "x".repeat(300)),
            text -> {
              int limit = HelloFormat.LEAST_REASON + text.length() % 80;
              byte[] shortened = Reason.shortened(text, limit);
              assertThat(shortened.length).isLessThanOrEqualTo(limit);
              return shortened.length == text.getBytes(StandardCharsets.UTF_8).length;
            });
  }
}
