// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import dev.ferrule.posix.NativeLibrary;
import java.util.ArrayList;
import java.util.List;

/** Checks whether the system's RDMA libraries can be loaded. */
final class RdmaLibrariesCheck implements Check {

  private static final List<String> LIBRARIES = List.of("libibverbs.so.1", "librdmacm.so.1");

  @Override
  public List<Finding> run() {
    List<String> absent = new ArrayList<>();
    for (String library : LIBRARIES) {
      try {
        NativeLibrary.load(library);
      } catch (UnsatisfiedLinkError e) {
        absent.add(library);
      }
    }
    if (absent.isEmpty()) {
      return List.of(
          Finding.ok("RDMA libraries", String.join(" and ", LIBRARIES) + " can be loaded"));
    }
    return List.of(
        Finding.missing(
            "RDMA libraries",
            String.join(" and ", absent) + " cannot be loaded",
            "Debian and Ubuntu: apt-get install libibverbs1 librdmacm1 ibverbs-providers; Fedora:"
                + " dnf install libibverbs librdmacm"));
  }
}
