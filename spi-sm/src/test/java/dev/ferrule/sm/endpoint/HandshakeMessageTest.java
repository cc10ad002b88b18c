// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.sm.endpoint.HandshakeMessage.Type;
import java.util.Optional;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class HandshakeMessageTest {

  @Property
  void shouldReadBackWhatItWrote(
      @ForAll Type type,
      @ForAll @IntRange(min = 1, max = HandshakeMessage.MAX_ID) int clientId,
      @ForAll @IntRange(max = HandshakeMessage.MAX_ID) int serverId,
      @ForAll @Size(max = HandshakeMessage.MAX_PAYLOAD) byte[] payload) {
    byte[] datagram = new HandshakeMessage(type, clientId, serverId, payload).encode();

    assertThat(datagram).hasSize(8 + payload.length);
    HandshakeMessage read = HandshakeMessage.decode(datagram).orElseThrow();
    assertThat(read.type()).isEqualTo(type);
    assertThat(read.version()).isEqualTo(HandshakeMessage.VERSION);
    assertThat(read.clientId()).isEqualTo(clientId);
    assertThat(read.serverId()).isEqualTo(serverId);
    assertThat(read.payload()).isEqualTo(payload);
  }

  @Property
  void shouldNeverFailOnGarbage(@ForAll byte[] datagram) {
    Optional<HandshakeMessage> read = HandshakeMessage.decode(datagram);
    read.ifPresent(message -> assertThat(message.payload()).hasSize(datagram.length - 8));
  }

  @Test
  void shouldPutTheTypeIntoTheFirstFourBits() {
    byte[] datagram = new HandshakeMessage(Type.CONNECT, 0xABCDE, 0x12345, new byte[] {7}).encode();
    assertThat(datagram).containsExactly(0x31, 0x10, 0x00, 0xDE, 0xBC, 0x5A, 0x34, 0x12, 7);
  }

  @Test
  void shouldRefuseAPayloadOfAnotherLengthThanTheHeaders() {
    byte[] datagram = new HandshakeMessage(Type.CONNECT, 1, 0, new byte[4]).encode();
    assertThat(HandshakeMessage.decode(java.util.Arrays.copyOf(datagram, 11))).isEmpty();
    assertThat(HandshakeMessage.decode(java.util.Arrays.copyOf(datagram, 13))).isEmpty();
    assertThat(HandshakeMessage.decode(java.util.Arrays.copyOf(datagram, 7))).isEmpty();
  }

  @Test
  void shouldRefuseConnectionNumber0() {
    byte[] datagram = new HandshakeMessage(Type.CONNECT, 1, 0, new byte[0]).encode();
    assertThat(HandshakeMessage.decode(datagram)).isPresent();
    datagram[3] = 0; // the number is 1 there, and 0 in the two bytes that follow
    assertThat(HandshakeMessage.decode(datagram)).isEmpty();
  }

  @Test
  void shouldReadTypeAndVersionOfAnotherVersionWhateverElseItHas() {
    byte[] datagram = {0x41, 0x70, 1, 2, 3, 4, 5, 6, 9, 9, 9};
    HandshakeMessage read = HandshakeMessage.decode(datagram).orElseThrow();
    assertThat(read.type()).isEqualTo(Type.CONNECT);
    assertThat(read.version()).isEqualTo(4);
  }
}
