// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import dev.ferrule.Availability.Unavailable;
import dev.ferrule.Ferrule;
import dev.ferrule.ProviderInfo;
import java.util.List;

/** Checks each provider's availability, as it reports it. */
final class ProvidersCheck implements Check {

  @Override
  public List<Finding> run() {
    List<ProviderInfo> providers = Ferrule.providers();
    if (providers.isEmpty()) {
      return List.of(
          Finding.missing(
              "providers",
              "none on the class path or module path",
              "add one, such as dev.ferrule:ferrule-spi-sm"));
    }
    return providers.stream().map(ProvidersCheck::finding).toList();
  }

  private static Finding finding(ProviderInfo provider) {
    String name = "provider " + provider.scheme();
    return provider.availability() instanceof Unavailable(String reason, String remedy)
        ? Finding.missing(name, reason, remedy)
        : Finding.ok(name, "works: " + provider.description());
  }
}
