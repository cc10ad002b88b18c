// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.cm;

import dev.ferrule.posix.RawMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.UnresolvedAddressException;
import java.util.Optional;

/** Encodes and decodes socket addresses of C: {@code sockaddr_in} and {@code sockaddr_in6}. */
final class SocketAddresses {

  private static final short AF_INET = 2;
  private static final short AF_INET6 = 10;

  private static final long SIZE_4 = 16;
  private static final long SIZE_6 = 28;
  private static final long PORT = 2;
  private static final long ADDRESS_4 = 4;
  private static final long ADDRESS_6 = 8;
  private static final long SCOPE_6 = 24;
  private static final int BYTES_4 = 4;
  private static final int BYTES_6 = 16;

  private static final ValueLayout.OfShort NETWORK_SHORT =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);

  private SocketAddresses() {}

  static MemorySegment encode(Arena arena, InetSocketAddress address) {
    InetAddress host = address.getAddress();
    if (host == null) {
      throw new UnresolvedAddressException();
    }
    byte[] bytes = host.getAddress();
    boolean six = host instanceof Inet6Address;
    MemorySegment result = arena.allocate(six ? SIZE_6 : SIZE_4, Long.BYTES);
    result.set(ValueLayout.JAVA_SHORT, 0, six ? AF_INET6 : AF_INET);
    result.set(NETWORK_SHORT, PORT, (short) address.getPort());
    MemorySegment.copy(
        bytes, 0, result, ValueLayout.JAVA_BYTE, six ? ADDRESS_6 : ADDRESS_4, bytes.length);
    if (host instanceof Inet6Address inet6) {
      result.set(ValueLayout.JAVA_INT, SCOPE_6, inet6.getScopeId());
    }
    return result;
  }

  /** Decodes the sockaddr at an address in memory; empty if its family is neither IPv4 nor IPv6. */
  static Optional<InetSocketAddress> decode(long address) {
    byte[] family = RawMemory.bytes(address, Short.BYTES);
    int port =
        RawMemory.getByte(address + PORT) << Byte.SIZE | RawMemory.getByte(address + PORT + 1);
    try {
      return switch (ByteBuffer.wrap(family).order(ByteOrder.nativeOrder()).getShort()) {
        case AF_INET ->
            Optional.of(
                new InetSocketAddress(
                    InetAddress.getByAddress(RawMemory.bytes(address + ADDRESS_4, BYTES_4)), port));
        case AF_INET6 ->
            Optional.of(
                new InetSocketAddress(
                    Inet6Address.getByAddress(
                        null,
                        RawMemory.bytes(address + ADDRESS_6, BYTES_6),
                        RawMemory.getInt(address + SCOPE_6)),
                    port));
        default -> Optional.empty();
      };
    } catch (UnknownHostException e) {
      throw new AssertionError("addresses have 4 or 16 bytes", e);
    }
  }
}
