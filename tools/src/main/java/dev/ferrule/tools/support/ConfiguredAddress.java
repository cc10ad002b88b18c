// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.Ferrule;
import dev.ferrule.ProviderInfo;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.spi.ResolvedOptions;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * An address with options, as given to a command.
 *
 * @param address the URI
 * @param options the options that are set in addition to the URI's query
 */
public record ConfiguredAddress(URI address, ConnectionOptions options) {

  /**
   * {@return the parsed URI}
   *
   * @param text the URI
   * @throws ToolException if the text is not a URI
   */
  public static URI parse(String text) {
    try {
      return new URI(text);
    } catch (URISyntaxException e) {
      throw new ToolException(
          ExitCode.USAGE,
          "'%s' is not a valid address: %s; write a URI such as sm:///tmp/app"
              .formatted(text, e.getReason()),
          e);
    }
  }

  /**
   * {@return the provider of a scheme, whether or not it is available}
   *
   * @param scheme the scheme of a URI; null if the URI has none
   */
  public static Optional<ProviderInfo> provider(@Nullable String scheme) {
    return Ferrule.providers().stream()
        .filter(candidate -> candidate.scheme().equalsIgnoreCase(scheme))
        .findFirst();
  }

  /**
   * {@return the provider that the user has chosen, whether or not it is available}
   *
   * @param scheme the scheme of a URI
   * @throws ToolException if there is none
   */
  public static ProviderInfo requiredProvider(String scheme) {
    return provider(scheme)
        .orElseThrow(() ->
            new ToolException(
                ExitCode.NO_PROVIDER,
                "no provider '"
                    + scheme
                    + "'; installed: "
                    + Ferrule.providers().stream()
                        .map(ProviderInfo::scheme)
                        .collect(Collectors.joining(", "))));
  }

  /**
   * {@return the effective options, including those of the address's query}
   *
   * @param provider the provider of the address
   */
  public ResolvedOptions resolved(ProviderInfo provider) {
    return ResolvedOptions.of(options, address, provider.options());
  }

  /** {@return the effective wait strategy of this endpoint} */
  public WaitStrategy waitStrategy() {
    return provider(address.getScheme())
        .map(provider -> resolved(provider).get(StandardOptions.WAIT))
        .orElse(WaitStrategy.ADAPTIVE); // no provider: connecting will fail
  }
}
