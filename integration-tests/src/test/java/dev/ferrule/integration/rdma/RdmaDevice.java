// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.verbs.PortAttributes;
import dev.ferrule.verbs.VerbsContext;
import dev.ferrule.verbs.VerbsLibrary;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;

/**
 * The device for the tests: the one named by the system property rdma.device, or the one that
 * with-rxe has found to work, or the first one.
 */
final class RdmaDevice {

  private static final byte[] IPV4_MAPPED = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1};

  private RdmaDevice() {}

  static String name() {
    List<String> names = VerbsLibrary.system().deviceNames();
    String found = System.getenv().getOrDefault("FERRULE_RXE_DEVICE", "");
    String property = System.getProperty("rdma.device", "");
    String wanted = property.isEmpty() ? found : property;
    if (names.isEmpty() || (!wanted.isEmpty() && !names.contains(wanted))) {
      throw new AssertionError("no RDMA device " + wanted + " among " + names);
    }
    return wanted.isEmpty() ? names.get(0) : wanted;
  }

  /**
   * Returns an IPv4 address of the device: with-rxe's if it is that device, or one from the GID
   * table.
   */
  static String address() {
    String found = System.getenv().getOrDefault("FERRULE_RXE_ADDRESS", "");
    if (!found.isEmpty() && name().equals(System.getenv("FERRULE_RXE_DEVICE"))) {
      return found; // that of InfiniBand is not in the table
    }
    try (VerbsContext context = VerbsLibrary.system().open(name())) {
      PortAttributes port = context.port(1);
      for (int i = 0; i < port.gids(); i++) {
        byte[] gid = context.gid(1, i);
        if (Arrays.equals(gid, 0, IPV4_MAPPED.length, IPV4_MAPPED, 0, IPV4_MAPPED.length)) {
          return InetAddress.getByAddress(Arrays.copyOfRange(gid, 12, 16)).getHostAddress();
        }
      }
      throw new AssertionError("the device " + name() + " has no IPv4 address");
    } catch (UnknownHostException e) {
      throw new AssertionError(e);
    }
  }
}
