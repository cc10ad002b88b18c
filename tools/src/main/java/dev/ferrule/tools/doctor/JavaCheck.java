// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import dev.ferrule.posix.Posix;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Checks the JDK, and whether it permits native access. */
final class JavaCheck implements Check {

  /** The modules that call restricted methods. */
  private static final Set<String> CALLING = Set.of("dev.ferrule.posix", "dev.ferrule.verbs");

  @Override
  public List<Finding> run() {
    String version = "Java " + Runtime.version() + " of " + System.getProperty("java.vendor");
    Module own = Posix.class.getModule();
    Stream<Module> calling =
        own.isNamed()
            ? own.getLayer().modules().stream().filter(module -> CALLING.contains(module.getName()))
            : Stream.of(own);
    String refused =
        calling
            .filter(module -> !module.isNativeAccessEnabled())
            .map(module -> module.isNamed() ? module.getName() : "ALL-UNNAMED")
            .sorted()
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
