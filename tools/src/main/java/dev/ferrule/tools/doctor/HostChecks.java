// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import dev.ferrule.Availability.Unavailable;
import dev.ferrule.Ferrule;
import dev.ferrule.ProviderInfo;
import dev.ferrule.posix.Posix;
import dev.ferrule.tools.support.Affinity;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Checks what every transport needs. */
final class HostChecks {

  /** The modules that call restricted methods. */
  private static final Set<String> CALLING = Set.of("dev.ferrule.posix", "dev.ferrule.verbs");

  private static final String SPIN_FIX =
      "use wait=adaptive (the default) or wait=block, or allow the process more processors (docker:"
          + " --cpus, --cpuset-cpus)";

  private HostChecks() {}

  /** Checks the JDK, and whether it permits native access. */
  static Finding java() {
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
    return refused.isEmpty()
        ? Finding.ok("java", version + ", native access enabled")
        : Finding.warn(
            "java",
            version + " prints a warning about native access, and later releases will refuse it",
            "start Java with --enable-native-access=" + refused);
  }

  /** Returns the availability that each provider reports. */
  static List<Finding> providers() {
    List<ProviderInfo> providers = Ferrule.providers();
    return providers.isEmpty()
        ? List.of(
            Finding.missing(
                "providers",
                "none on the class path or module path",
                "add one, such as dev.ferrule:ferrule-spi-sm"))
        : providers.stream().map(HostChecks::provider).toList();
  }

  private static Finding provider(ProviderInfo provider) {
    String name = "provider " + provider.scheme();
    return provider.availability() instanceof Unavailable(String reason, String remedy)
        ? Finding.missing(name, reason, remedy)
        : Finding.ok(name, "works: " + provider.description());
  }

  /** Checks whether two threads can spin concurrently. */
  static Finding processors() {
    String name = "processors";
    int allowed = Affinity.allowed().size();
    int usable = Runtime.getRuntime().availableProcessors(); // respects the quota of a container
    if (allowed < 2) {
      return Finding.warn(
          name,
          "one: with wait=spin, each side waits for the end of the other's time slice",
          SPIN_FIX);
    }
    return usable < 2
        ? Finding.warn(
            name,
            "threads may run on "
                + allowed
                + " but the CPU quota is less than two: spinning is throttled",
            SPIN_FIX)
        : Finding.ok(name, usable + ", enough for two spinning sides (wait=spin)");
  }
}
