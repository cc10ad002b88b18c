// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers.transport;

import java.net.StandardProtocolFamily;
import java.util.List;

/** All contenders that this JVM can be. */
public final class Contenders {

  /** The name of Ferrule's own. */
  public static final String OURS = "sm";

  /** The name of the bare cache line. */
  public static final String FLOOR = "floor";

  private Contenders() {}

  /**
   * Returns the contenders in the order in which they take turns.
   *
   * @return new ones, which hold nothing yet
   */
  public static List<Contender> all() {
    return List.of(
        new CacheLineContender(),
        new FerruleContender(),
        new AgronaContender(),
        new AeronContender(),
        new SocketContender(StandardProtocolFamily.UNIX),
        new SocketContender(StandardProtocolFamily.INET));
  }

  /**
   * Returns one contender.
   *
   * @param name its name
   * @return the contender
   * @throws IllegalArgumentException if there is none of that name
   */
  public static Contender named(String name) {
    return all().stream()
        .filter(contender -> contender.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no contender has the name " + name));
  }
}
