// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers.transport;

import dev.ferrule.WaitStrategy;
import java.net.StandardProtocolFamily;
import java.util.List;
import java.util.stream.Stream;

/** The contenders that a JVM can be. */
public final class Contenders {

  /** The name of Ferrule's own. */
  public static final String OURS = "sm";

  /** The name of the bare cache line. */
  public static final String FLOOR = "floor";

  private static final int TERM_BYTES = 16 << 20;
  private static final int TERM_BYTES_AS_OURS = 256 << 10; // the default of the option 'ring'
  private static final int TERM_BYTES_OF_MANY = 64 << 10;
  private static final int DRIVER_MICROS = 100;
  private static final int DRIVER_MICROS_OF_SHORT_TERMS = 20; // gives a greater rate

  private static final List<String> RDMA = List.of("sendrecv", "magicring");

  private Contenders() {}

  /**
   * Returns those over shared memory and the loopback, in the order in which they take turns.
   *
   * @return new ones, which hold nothing yet
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
   * Returns those that can have many connections, each with a thread of its own that waits.
   *
   * @return new ones, which hold nothing yet
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
   * @return a new one, which needs a device when it listens
   */
  public static Contender overRdma(String scheme) {
    return new FerruleContender(scheme);
  }

  /**
   * Returns one contender.
   *
   * @param name its name
   * @return the contender
   * @throws IllegalArgumentException if there is none of that name
   */
  public static Contender named(String name) {
    return Stream.concat(all().stream(), RDMA.stream().map(Contenders::overRdma))
        .filter(contender -> contender.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no contender has the name " + name));
  }
}
