// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.ProviderInfo;
import dev.ferrule.StandardOptions;
import dev.ferrule.tools.support.ConfiguredAddress;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * Connection options that only some providers have, for the measuring commands: short flags that
 * set them, and values that suit a measurement. The provider's list of options shows which it has.
 */
final class TransportOptions {

  /** Raised by {@code bandwidth --unacked}. */
  static final String UNACKED = "unacked";

  private static final String INLINE = "inline";
  private static final String SRQ = "srq";
  private static final String SINGLE_RECEIVER = "singleReceiver";
  private static final String SIMPLEX = "simplex";

  /** Options that affect only a listener. */
  private static final List<String> OF_LISTENER = List.of(SRQ, SINGLE_RECEIVER);

  /** Options of a ring in which this side receives. */
  private static final List<String> OF_RECEIVER =
      List.of("mapping", "ring", "acknowledge", "hugePages");

  /** An option of providers whose receive buffers have {@code maxMessage} bytes each. */
  private static final String RECEIVES = "receives";

  /** Enough for the messages that set up a round. */
  private static final long MIN_MAX_MESSAGE = 4 << 10;

  private static final String ON = "on";

  @Option(
      names = "--inline",
      paramLabel = "BYTES",
      converter = Values.Size.class,
      description =
          "Maximum length of a message that is sent inline in the work request. Short for --option"
              + " inline=BYTES.")
  private @Nullable Integer inline;

  @Option(
      names = "--srq",
      description =
          "Share one pool of receive buffers between all connections of the server. Short for"
              + " --option srq=on.")
  private boolean srq;

  @Option(
      names = "--single-receiver",
      description =
          "Receive from all connections of the server in one thread. Short for --option"
              + " singleReceiver=on.")
  private boolean singleReceiver;

  @Option(
      names = "--simplex",
      description =
          "Send messages only from the client to the server, for 'ferrule latency --calls' and"
              + " 'ferrule serve'. Short for --option simplex=on.")
  private boolean simplex;

  /** Returns the values of the options that the flags set, by name. */
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
    if (simplex) {
      values.put(SIMPLEX, ON);
    }
    return values;
  }

  /** Sets the options of the flags; throws if the provider does not have one of them. */
  void addTo(ConnectionOptions.Builder options, ProviderInfo provider) {
    values()
        .forEach((name, value) -> {
          if (find(provider, name).isEmpty()) {
            throw new ToolException(
                ExitCode.USAGE,
                "%s is not supported by the provider %s: no option '%s'; its options are %s"
                    .formatted(flag(name), provider.scheme(), name, names(provider)));
          }
          options.set(name, value);
        });
  }

  private static String names(ProviderInfo provider) {
    return provider.options().stream()
        .map(dev.ferrule.Option::name)
        .collect(Collectors.joining(", "));
  }

  private static String flag(String option) {
    return option.equals(SINGLE_RECEIVER) ? "--single-receiver" : "--" + option;
  }

  /**
   * Raises the message limit to the length of the longest message measured. If each receive buffer
   * of the provider has that size, also lowers it to that length, which yields more buffers. Does
   * not change a limit set by the user.
   */
  static void fitMaxMessage(
      ConnectionOptions.Builder options, ProviderInfo provider, long longest) {
    if (options.build().find(StandardOptions.MAX_MESSAGE).isPresent()) {
      return;
    }
    if (find(provider, RECEIVES).isPresent()) {
      options.set(StandardOptions.MAX_MESSAGE, Math.max(longest, MIN_MAX_MESSAGE));
    } else if (longest > defaultMaxMessage(provider)) {
      options.set(StandardOptions.MAX_MESSAGE, longest);
    }
  }

  /** Returns the provider's default. */
  private static long defaultMaxMessage(ProviderInfo provider) {
    return find(provider, StandardOptions.MAX_MESSAGE.name())
        .map(dev.ferrule.Option::defaultText)
        .map(StandardOptions.MAX_MESSAGE::parse)
        .orElseThrow();
  }

  /** Raises a numeric option to a minimum, if the provider has the option. */
  static void raise(
      ConnectionOptions.Builder options, ProviderInfo provider, String name, int least) {
    Optional<dev.ferrule.Option<?>> option = find(provider, name);
    if (option.isPresent()
        && chosen(options.build(), option.get()) instanceof Number now
        && now.longValue() < least) {
      options.set(name, String.valueOf(least));
    }
  }

  private static <T> T chosen(ConnectionOptions options, dev.ferrule.Option<T> option) {
    return options.find(option).or(option::defaultValue).orElseThrow();
  }

  /** Throws if a flag for the server is set, since the server is already running. */
  void requireNoneOfServer() {
    for (String name : OF_LISTENER) {
      if (values().containsKey(name)) {
        throw new ToolException(
            ExitCode.USAGE,
            "%1$s has no effect on a running server; start it with 'ferrule serve %1$s URI'"
                .formatted(flag(name)));
      }
    }
  }

  /** Throws if an option of a listener is on, since the listener is already running. */
  static void requireNoneOfListener(ConfiguredAddress endpoint) {
    for (String name : OF_LISTENER) {
      if (isOn(endpoint, name)) {
        throw new ToolException(
            ExitCode.USAGE,
            ("%s: option '%s' has no effect on a running listener; start it with 'ferrule serve %s"
                    + " URI'")
                .formatted(endpoint.address(), name, flag(name)));
      }
    }
  }

  /** Throws if an option of a receiver is set for an endpoint that does not receive. */
  static void requireNoneOfReceiver(ConfiguredAddress endpoint) {
    if (!isSimplex(endpoint)) {
      return;
    }
    for (String name : OF_RECEIVER) {
      if (meets(
          endpoint, name, (option, value) -> !Optional.of(value).equals(option.defaultValue()))) {
        throw new ToolException(
            ExitCode.USAGE,
            ("%s: option '%s' has no effect on a client that does not receive; start the server"
                    + " with 'ferrule serve --simplex --option %2$s=… URI'")
                .formatted(endpoint.address(), name));
      }
    }
  }

  /** Returns whether a listener receives from all its connections in one thread. */
  static boolean isSingleReceiver(ConfiguredAddress endpoint) {
    return isOn(endpoint, SINGLE_RECEIVER);
  }

  /**
   * Throws if the endpoint's options request a simplex connection, on which only one side sends.
   */
  static void requireBothWays(ConfiguredAddress endpoint) {
    if (isSimplex(endpoint)) {
      throw new ToolException(
          ExitCode.USAGE,
          endpoint.address()
              + ": both sides of this command send, so simplex=on is not possible; remove the"
              + " option, or measure the calls by 'ferrule latency --calls'");
    }
  }

  /** Returns whether only the client of a connection to this endpoint sends. */
  static boolean isSimplex(ConfiguredAddress endpoint) {
    return isOn(endpoint, SIMPLEX);
  }

  private static boolean isOn(ConfiguredAddress endpoint, String name) {
    // a boolean, or one of several values such as on, off and auto
    return meets(
        endpoint,
        name,
        (option, value) -> value.equals(true) || value.toString().equalsIgnoreCase(ON));
  }

  /** Returns whether the provider has an option whose value meets a condition. */
  private static boolean meets(
      ConfiguredAddress endpoint,
      String name,
      BiPredicate<dev.ferrule.Option<?>, Object> condition) {
    return ConfiguredAddress.provider(endpoint.address().getScheme())
        .flatMap(provider ->
            find(provider, name)
                .map(option -> condition.test(option, endpoint.resolved(provider).get(option))))
        .orElse(false);
  }

  private static Optional<dev.ferrule.Option<?>> find(ProviderInfo provider, String name) {
    return provider.options().stream().filter(option -> option.name().equals(name)).findFirst();
  }
}
