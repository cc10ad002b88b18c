// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import dev.ferrule.Ferrule;
import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.spi.ConnectionProvider;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The JDK, and whether it lets us call the system's libraries. */
final class JavaCheck implements Check {

  @Override
  public List<Finding> run() {
    String version = "Java " + Runtime.version() + " of " + System.getProperty("java.vendor");
    String refused =
        Stream.concat(
                Stream.of(LibC.class, JavaCheck.class),
                Ferrule.providers().stream().map(ConnectionProvider::getClass))
            .map(Class::getModule)
            .filter(module -> !module.isNativeAccessEnabled())
            .map(module -> module.isNamed() ? module.getName() : "ALL-UNNAMED")
            .distinct()
            .collect(Collectors.joining(","));
    if (!refused.isEmpty()) {
      return List.of(
          Finding.warn(
              "java",
              version + " warns of native access, and later releases will refuse it",
              "start Java with --enable-native-access=" + refused));
    }
    return List.of(Finding.ok("java", version + ", native access enabled"));
  }
}
