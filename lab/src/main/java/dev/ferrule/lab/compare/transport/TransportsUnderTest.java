// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.transport;

import dev.ferrule.WaitStrategy;
import java.net.StandardProtocolFamily;
import java.util.List;
import java.util.stream.Stream;

/** The transports that can run in a JVM. */
public final class TransportsUnderTest {

  /** The name of Ferrule's transport. */
  public static final String OURS = "sm";

  /** The name of the bare cache line. */
  public static final String FLOOR = "floor";

  private static final int TERM_BYTES = 16 << 20;
  private static final int TERM_BYTES_AS_OURS = 1 << 20; // the default of the option 'ring'
  private static final int TERM_BYTES_OF_MANY = 64 << 10;
  private static final int DRIVER_MICROS = 100;
  private static final int DRIVER_MICROS_OF_SHORT_TERMS = 20; // gives a higher rate

  private static final List<String> RDMA = List.of("sendrecv", "magicring");

  private TransportsUnderTest() {}

  /** Returns the transports over shared memory and the loopback, in the order of measurement. */
  public static List<TransportUnderTest> all() {
    return List.of(
        new CacheLineTransport(),
        new FerruleTransport(OURS),
        new AgronaTransport(),
        new AeronTransport("aeron", TERM_BYTES, DRIVER_MICROS),
        new AeronTransport("aeron-small", TERM_BYTES_AS_OURS, DRIVER_MICROS_OF_SHORT_TERMS),
        new JctoolsTransport(),
        new SocketTransport(StandardProtocolFamily.UNIX),
        new SocketTransport(StandardProtocolFamily.INET));
  }

  /** Returns the transports that support many connections, each with its own waiting thread. */
  public static List<TransportUnderTest> concurrent() {
    return List.of(
        new FerruleTransport(OURS, WaitStrategy.ADAPTIVE),
        new FerruleTransport(OURS, WaitStrategy.BLOCK),
        new SocketTransport(StandardProtocolFamily.UNIX),
        new AeronTransport("aeron", TERM_BYTES_OF_MANY, DRIVER_MICROS));
  }

  /** Returns one of Ferrule's transports over RDMA, which needs a device when it listens. */
  public static TransportUnderTest overRdma(String scheme) {
    return new FerruleTransport(scheme);
  }

  public static TransportUnderTest named(String name) {
    return named(
        name,
        Stream.concat(all().stream(), RDMA.stream().map(TransportsUnderTest::overRdma)).toList());
  }

  public static TransportUnderTest named(String name, List<TransportUnderTest> some) {
    return some.stream()
        .filter(transport -> transport.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("unknown transport " + name));
  }
}
