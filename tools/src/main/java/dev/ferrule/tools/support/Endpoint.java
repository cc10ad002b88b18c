// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.Ferrule;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.spi.ConnectionProvider;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * An address with options, as a command was given them.
 *
 * @param address the URI
 * @param options options that its query overrides
 */
public record Endpoint(URI address, ConnectionOptions options) {

  /**
   * Reads an address.
   *
   * @param text the URI as the user wrote it
   * @return the URI
   * @throws ToolException if it is not one
   */
  public static URI parse(String text) {
    try {
      return new URI(text);
    } catch (URISyntaxException e) {
      throw new ToolException(
          ExitCode.USAGE,
          "'"
              + text
              + "' is not an address: "
              + e.getReason()
              + "; write a URI such as sm:///tmp/app",
          e);
    }
  }

  /**
   * Finds the provider of a scheme.
   *
   * @param scheme the scheme of a URI
   * @return the provider, whether or not it can work here
   */
  public static Optional<ConnectionProvider> provider(String scheme) {
    return Ferrule.providers().stream()
        .filter(candidate -> candidate.scheme().equalsIgnoreCase(scheme))
        .findFirst();
  }

  /**
   * Finds the provider that the user has asked for.
   *
   * @param scheme the scheme of a URI
   * @return the provider, whether or not it can work here
   * @throws ToolException if there is none
   */
  public static ConnectionProvider requiredProvider(String scheme) {
    return provider(scheme)
        .orElseThrow(
            () ->
                new ToolException(
                    ExitCode.NO_PROVIDER,
                    "there is no provider '"
                        + scheme
                        + "'; those that are here: "
                        + Ferrule.providers().stream()
                            .map(ConnectionProvider::scheme)
                            .collect(Collectors.joining(", "))));
  }

  /**
   * Returns the options, with those of the address's query.
   *
   * @param provider the provider of the address
   * @return what the provider goes by
   */
  public ConnectionOptions resolved(ConnectionProvider provider) {
    return options.resolve(address, provider.options());
  }

  /**
   * Returns how blocking calls will wait at this endpoint, all of query, options and default
   * considered.
   *
   * @return the strategy
   */
  public WaitStrategy waitStrategy() {
    return Optional.ofNullable(address.getScheme())
        .flatMap(Endpoint::provider)
        .map(provider -> resolved(provider).get(StandardOptions.WAIT))
        .orElse(StandardOptions.WAIT.defaultValue()); // no provider: connecting will say so
  }
}
