// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;

/** Reads and writes {@code sockaddr_in} and {@code sockaddr_in6}. */
final class SocketAddress {

  private static final short AF_INET = 2;
  private static final short AF_INET6 = 10;
  private static final ValueLayout.OfShort NETWORK_SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private SocketAddress() {}

  static InetSocketAddress read(MemorySegment memory) {
    boolean six = memory.get(ValueLayout.JAVA_SHORT, 0) == AF_INET6;
    byte[] host = memory.asSlice(six ? 8 : 4, six ? 16 : 4).toArray(ValueLayout.JAVA_BYTE);
    try {
      int port = memory.get(NETWORK_SHORT, 2) & 0xffff;
      return new InetSocketAddress(InetAddress.getByAddress(host), port);
    } catch (UnknownHostException e) {
      throw new AssertionError(e);
    }
  }

  static void write(InetSocketAddress address, MemorySegment memory) {
    byte[] host = address.getAddress().getAddress();
    boolean six = host.length > 4;
    memory.set(ValueLayout.JAVA_SHORT, 0, six ? AF_INET6 : AF_INET);
    memory.set(NETWORK_SHORT, 2, (short) address.getPort());
    MemorySegment.copy(host, 0, memory, ValueLayout.JAVA_BYTE, six ? 8 : 4, host.length);
  }
}
