// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.verbs.libibverbs.ibv_port_attr;
import java.lang.foreign.MemorySegment;

/**
 * The state of a device's port, from {@code ibv_query_port(3)}.
 *
 * @param active whether the port is up
 * @param activeMtu payload bytes of one packet: 256 to 4096
 * @param maxMessageSize bytes of one message
 * @param gids entries of the GID table
 * @param ethernet whether the link is Ethernet (RoCE) rather than InfiniBand
 */
public record PortAttributes(
    boolean active, int activeMtu, long maxMessageSize, int gids, boolean ethernet) {

  private static final int PORT_ACTIVE = 4;
  private static final int LINK_LAYER_ETHERNET = 2;
  private static final int SMALLEST_MTU =
      128; // the code 1 stands for 256, each further one doubles

  static PortAttributes read(MemorySegment attributes) {
    return new PortAttributes(
        ibv_port_attr.state(attributes) == PORT_ACTIVE,
        SMALLEST_MTU << ibv_port_attr.active_mtu(attributes),
        ibv_port_attr.max_msg_sz(attributes) & 0xffff_ffffL,
        ibv_port_attr.gid_tbl_len(attributes),
        ibv_port_attr.link_layer(attributes) == LINK_LAYER_ETHERNET);
  }
}
