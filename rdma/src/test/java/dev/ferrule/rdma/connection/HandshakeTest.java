// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.MessageTooLongException;
import java.net.URI;
import org.junit.jupiter.api.Test;

/** The program's payload of a handshake. */
class HandshakeTest {

  private static final int ROOM = 40;

  private final FakeProvider provider = new FakeProvider(new FakeManager());

  private void check(int length) {
    Handshake.checkPayload(
        URI.create("fake://host:1"),
        provider,
        FakeProvider.options(""),
        new byte[length],
        provider.hello().size() + ROOM);
  }

  @Test
  void aPayloadIsLimitedToTheSpaceThatTheHelloLeaves() {
    assertThatCode(() -> check(ROOM)).doesNotThrowAnyException();
    assertThatThrownBy(() -> check(ROOM + 1))
        .isInstanceOf(MessageTooLongException.class)
        .hasMessageContaining("fake://host:1: payload too long: 41 bytes exceed the limit of 40");
  }

  @Test
  void withoutAHandshakeAPayloadIsRefusedAndNotDropped() {
    provider.hasHandshake = false;
    assertThatCode(() -> check(0)).doesNotThrowAnyException();
    assertThatThrownBy(() -> check(1))
        .isInstanceOf(MessageTooLongException.class)
        .hasMessageContaining("the limit of 0 bytes of hello=off");
  }
}
