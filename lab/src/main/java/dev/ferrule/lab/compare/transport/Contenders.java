// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.transport;

import dev.ferrule.WaitStrategy;
import java.net.StandardProtocolFamily;
import java.util.List;
import java.util.stream.Stream;

/** The transports that can run in a JVM. */
public final class Contenders {

  /** The name of Ferrule's transport. */
  public static final String OURS = "sm";

  /** The name of the bare cache line. */
  public static final String FLOOR = "floor";

  private static final int TERM_BYTES = 16 << 20;
  private static final int TERM_BYTES_AS_OURS = 256 << 10; // the default of the option 'ring'
  private static final int TERM_BYTES_OF_MANY = 64 << 10;
  private static final int DRIVER_MICROS = 100;
  private static final int DRIVER_MICROS_OF_SHORT_TERMS = 20; // gives a higher rate

  private static final List<String> RDMA = List.of("sendrecv", "magicring");

  private Contenders() {}

  /**
   * Returns those over shared memory and the loopback, in the order of measurement.
   *
   * @return new instances without resources
   */
  public static List<Contender> all() {
    return List.of(
        new CacheLineContender(),
        new FerruleContender(OURS),
        new AgronaContender(),
        new AeronContender("aeron", TERM_BYTES, DRIVER_MICROS),
        new AeronContender("aeron-small", TERM_BYTES_AS_OURS, DRIVER_MICROS_OF_SHORT_TERMS),
        new JctoolsContender(),
        new SocketContender(StandardProtocolFamily.UNIX),
        new SocketContender(StandardProtocolFamily.INET));
  }

  /**
   * Returns those that support many connections, each with a thread of its own that waits.
   *
   * @return new instances without resources
   */
  public static List<Contender> concurrent() {
    return List.of(
        new FerruleContender(OURS, WaitStrategy.ADAPTIVE),
        new FerruleContender(OURS, WaitStrategy.BLOCK),
        new SocketContender(StandardProtocolFamily.UNIX),
        new AeronContender("aeron", TERM_BYTES_OF_MANY, DRIVER_MICROS));
  }

  /**
   * Returns one of Ferrule's own over RDMA.
   *
   * @param scheme the provider's scheme
   * @return a new instance, which needs a device when it listens
   */
  public static Contender overRdma(String scheme) {
    return new FerruleContender(scheme);
  }

  /**
   * Returns a transport.
   *
   * @param name its name
   * @return the transport
   * @throws IllegalArgumentException if there is none with that name
   */
  public static Contender named(String name) {
    return Stream.concat(all().stream(), RDMA.stream().map(Contenders::overRdma))
        .filter(contender -> contender.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("unknown transport " + name));
  }
}
