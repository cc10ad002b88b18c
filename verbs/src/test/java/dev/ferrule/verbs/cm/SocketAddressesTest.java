// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.util.List;
import org.junit.jupiter.api.Test;

class SocketAddressesTest {

  private final Arena arena = Arena.ofAuto();

  @Test
  void anIpv4AddressIsASockaddrIn() {
    MemorySegment encoded =
        SocketAddresses.encode(arena, new InetSocketAddress("10.1.2.254", 0x1234));
    assertThat(encoded.toArray(ValueLayout.JAVA_BYTE))
        .containsExactly(2, 0, 0x12, 0x34, 10, 1, 2, 254, 0, 0, 0, 0, 0, 0, 0, 0);
  }

  @Test
  void thePortIsUnsigned() {
    MemorySegment encoded =
        SocketAddresses.encode(arena, new InetSocketAddress("10.1.2.3", 0xfffe));
    assertThat(encoded.get(ValueLayout.JAVA_BYTE, 2)).isEqualTo((byte) 0xff);
    assertThat(encoded.get(ValueLayout.JAVA_BYTE, 3)).isEqualTo((byte) 0xfe);
  }

  @Test
  void anIpv6AddressIsASockaddrIn6WithItsScope() throws UnknownHostException {
    byte[] bytes = {(byte) 0xfe, (byte) 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
    MemorySegment encoded =
        SocketAddresses.encode(
            arena, new InetSocketAddress(Inet6Address.getByAddress(null, bytes, 3), 0x1234));
    assertThat(encoded.byteSize()).isEqualTo(28);
    assertThat(encoded.get(ValueLayout.JAVA_SHORT, 0)).isEqualTo((short) 10);
    assertThat(encoded.get(ValueLayout.JAVA_BYTE, 2)).isEqualTo((byte) 0x12);
    assertThat(encoded.get(ValueLayout.JAVA_BYTE, 3)).isEqualTo((byte) 0x34);
    assertThat(encoded.get(ValueLayout.JAVA_INT, 4)).isZero();
    assertThat(encoded.asSlice(8, 16).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(bytes);
    assertThat(encoded.get(ValueLayout.JAVA_INT, 24)).isEqualTo(3);
  }

  @Test
  void anUnresolvedAddressIsRefused() {
    assertThatExceptionOfType(UnresolvedAddressException.class)
        .isThrownBy(
            () -> SocketAddresses.encode(arena, InetSocketAddress.createUnresolved("host", 1)));
  }

  @Test
  void anEncodedAddressIsDecoded() throws UnknownHostException {
    byte[] bytes = {(byte) 0xfe, (byte) 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
    for (InetSocketAddress address :
        List.of(
            new InetSocketAddress("10.1.2.254", 0xfffe),
            new InetSocketAddress("::1", 1),
            new InetSocketAddress(Inet6Address.getByAddress(null, bytes, 3), 0x1234))) {
      MemorySegment encoded = SocketAddresses.encode(arena, address);
      assertThat(SocketAddresses.decode(encoded.address())).contains(address);
    }
  }

  @Test
  void anAddressWithoutFamilyIsEmpty() {
    assertThat(SocketAddresses.decode(arena.allocate(28).address())).isEmpty();
  }
}
