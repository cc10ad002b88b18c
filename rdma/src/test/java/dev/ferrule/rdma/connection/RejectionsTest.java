// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.ferrule.verbs.cm.CmEvent;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The exception of a rejected client. */
class RejectionsTest {

  private static final HelloFormat FORMAT = new HelloFormat(0x41424344, 3, 2, (kind, body) -> true);

  @ParameterizedTest
  @EnumSource(names = {"REFUSE", "NO_ROOM"})
  void controlCharactersOfAReasonAreEscaped(Hello.Kind kind) {
    RdmaProtocol protocol = mock(RdmaProtocol.class);
    when(protocol.hello()).thenReturn(FORMAT);
    byte[] reason = "\033[2Jgo\naway".getBytes(StandardCharsets.US_ASCII);
    CmEvent event =
        new CmEvent(
            CmEvent.Type.REJECTED, CmEvent.REJECTED_BY_CONSUMER, 1, 0, FORMAT.encode(kind, reason));

    assertThat(Rejections.of(URI.create("test://host:1"), protocol, true, event))
        .hasMessageEndingWith("\\u001b[2Jgo\\u000aaway");
  }
}
