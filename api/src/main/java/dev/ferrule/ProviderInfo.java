// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.util.List;

/**
 * Describes a provider on the class path or module path; see {@link Ferrule#providers()}.
 *
 * {@snippet lang=java :
 * for (ProviderInfo provider : Ferrule.providers()) {
 *   System.out.println(provider.scheme() + ": " + provider.availability());
 * }
 * }
 *
 * @param scheme the scheme of the provider's URIs, in lower case
 * @param description a description of the provider, in one line
 * @param exampleAddress an example of an address
 * @param availability whether the provider works on this machine and, if not, why
 * @param options all options of its connections and listeners: the standard ones and its own
 */
public record ProviderInfo(
    String scheme,
    String description,
    String exampleAddress,
    Availability availability,
    List<Option<?>> options) {

  /** Copies the list. */
  public ProviderInfo {
    options = List.copyOf(options);
  }
}
