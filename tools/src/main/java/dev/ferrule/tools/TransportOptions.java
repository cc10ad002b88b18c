// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.StandardOptions;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.tools.support.Endpoint;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * What the commands that measure do about connection options that only some providers have: flags
 * that are short for them, and values that suit what is measured. Which provider has which is known
 * from its list alone.
 */
final class TransportOptions {

  /** Set by {@code --unacked} as well. */
  static final String UNACKED = "unacked";

  private static final String INLINE = "inline";
  private static final String SRQ = "srq";
  private static final String SINGLE_RECEIVER = "singleReceiver";
  private static final String SIMPLEX = "simplex";

  /** Options that a connection takes no notice of. */
  private static final List<String> OF_LISTENER = List.of(SRQ, SINGLE_RECEIVER);

  /** Whoever has this option pays for {@code maxMessage} with so many buffers of that size. */
  private static final String RECEIVES = "receives";

  /** Enough for the messages by which client and server agree on a round. */
  private static final long LEAST_MAX_MESSAGE = 4 << 10;

  private static final String ON = "on";

  @Option(
      names = "--inline",
      paramLabel = "BYTES",
      converter = Values.Size.class,
      description =
          "Up to how many bytes a message goes to the device in the work request itself. Short for"
              + " --option inline=BYTES.")
  private @Nullable Integer inline;

  @Option(
      names = "--srq",
      description =
          "Let all connections of the server share one group of receive buffers. Short for"
              + " --option srq=on.")
  private boolean srq;

  @Option(
      names = "--single-receiver",
      description =
          "Let one thread of the server receive from all connections, through one completion queue."
              + " Short for --option singleReceiver=on.")
  private boolean singleReceiver;

  /** Returns the options that the flags are short for, with what they were set to. */
  Map<String, String> values() {
    Map<String, String> values = new LinkedHashMap<>();
    if (inline != null) {
      values.put(INLINE, String.valueOf(inline));
    }
    if (srq) {
      values.put(SRQ, ON);
    }
    if (singleReceiver) {
      values.put(SINGLE_RECEIVER, ON);
    }
    return values;
  }

  /**
   * Sets the options that the flags are short for.
   *
   * @throws ToolException if the provider does not have one of them
   */
  void addTo(ConnectionOptions.Builder options, ConnectionProvider provider) {
    values()
        .forEach(
            (name, value) -> {
              if (find(provider, name).isEmpty()) {
                throw new ToolException(
                    ExitCode.USAGE,
                    flag(name)
                        + " is not for the provider "
                        + provider.scheme()
                        + ", which has no option '"
                        + name
                        + "'; its options are "
                        + provider.options().stream()
                            .map(dev.ferrule.Option::name)
                            .collect(Collectors.joining(", ")));
              }
              options.set(name, value);
            });
  }

  private static String flag(String option) {
    return option.equals(SINGLE_RECEIVER) ? "--single-receiver" : "--" + option;
  }

  /**
   * Allows as long messages as are to be measured. Where each receive buffer has room for the
   * longest message, not more than that is allowed either, for the sake of having many of them. A
   * limit that the user has set stays.
   */
  static void fitMaxMessage(
      ConnectionOptions.Builder options, ConnectionProvider provider, long longest) {
    if (options.build().isSet(StandardOptions.MAX_MESSAGE)) {
      return;
    }
    if (find(provider, RECEIVES).isPresent()) {
      options.maxMessageSize(Math.max(longest, LEAST_MAX_MESSAGE));
    } else if (longest > defaultMaxMessage(provider)) {
      options.maxMessageSize(longest);
    }
  }

  /** The default is the provider's own. */
  private static long defaultMaxMessage(ConnectionProvider provider) {
    return find(provider, StandardOptions.MAX_MESSAGE.name())
        .map(dev.ferrule.Option::defaultText)
        .map(StandardOptions.MAX_MESSAGE::parse)
        .orElseGet(StandardOptions.MAX_MESSAGE::defaultValue);
  }

  /** Sets an option that counts something to a number at least, where the provider has it. */
  static void raise(
      ConnectionOptions.Builder options, ConnectionProvider provider, String name, int least) {
    Optional<dev.ferrule.Option<?>> option = find(provider, name);
    if (option.isPresent()
        && options.build().get(option.get()) instanceof Number now
        && now.longValue() < least) {
      options.set(name, String.valueOf(least));
    }
  }

  /**
   * Tells whether messages of a provider are complete only when they are acknowledged, so that a
   * limit on those that are not is an option.
   */
  static boolean isAcknowledged(ConnectionProvider provider) {
    return find(provider, UNACKED).isPresent();
  }

  /**
   * Refuses the flags of the server where it runs already, for they would change nothing.
   *
   * @throws ToolException if one of them is set
   */
  void requireNoneOfServer() {
    for (String name : OF_LISTENER) {
      if (values().containsKey(name)) {
        throw new ToolException(
            ExitCode.USAGE,
            flag(name)
                + " is for the server, which runs already; start that with 'ferrule serve "
                + flag(name)
                + " URI'");
      }
    }
  }

  /**
   * Refuses the same as options of the connection, or in its address.
   *
   * @throws ToolException if one of them is on
   */
  static void requireNoneOfListener(Endpoint endpoint) {
    for (String name : OF_LISTENER) {
      if (isOn(endpoint, name)) {
        throw new ToolException(
            ExitCode.USAGE,
            endpoint.address()
                + ": option '"
                + name
                + "' is for the listener, which runs already; start that with 'ferrule serve "
                + flag(name)
                + " URI'");
      }
    }
  }

  /** Tells whether one receiver is to serve all connections of a listener at this endpoint. */
  static boolean isSingleReceiver(Endpoint endpoint) {
    return isOn(endpoint, SINGLE_RECEIVER);
  }

  /**
   * Refuses connections on which only one side sends.
   *
   * @throws ToolException if the endpoint's options ask for such
   */
  static void requireBothWays(Endpoint endpoint) {
    if (isOn(endpoint, SIMPLEX)) {
      throw new ToolException(
          ExitCode.USAGE,
          endpoint.address()
              + ": the two sides of this command answer each other, so it cannot do with"
              + " simplex=on; leave that out");
    }
  }

  private static boolean isOn(Endpoint endpoint, String name) {
    return Optional.ofNullable(endpoint.address().getScheme())
        .flatMap(Endpoint::provider)
        .flatMap(
            provider -> find(provider, name).map(option -> endpoint.resolved(provider).get(option)))
        // a flag, or an option that is on, off or left to the provider
        .map(value -> value.equals(true) || value.toString().equalsIgnoreCase(ON))
        .orElse(false);
  }

  private static Optional<dev.ferrule.Option<?>> find(ConnectionProvider provider, String name) {
    for (dev.ferrule.Option<?> option : provider.options()) {
      if (option.name().equals(name)) {
        return Optional.of(option);
      }
    }
    return Optional.empty();
  }
}
