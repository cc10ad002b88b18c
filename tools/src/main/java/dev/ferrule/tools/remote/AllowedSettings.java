// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.remote;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.Option;
import dev.ferrule.ProviderInfo;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.tools.bench.FreshAddress;
import dev.ferrule.tools.evaluate.ServerSettings;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * What another host may ask of a server that is started for it: transports between hosts, and
 * options that open no file, with limits on the memory that they take.
 */
final class AllowedSettings {

  /** The maximum memory of the receive buffers or the ring of a connection, in bytes. */
  private static final long MAX_BYTES = 64 << 20;

  private static final Duration MAX_CONNECT_TIMEOUT = Duration.ofSeconds(120);
  private static final String RECEIVES = "receives";
  private static final String MAX_MESSAGE = StandardOptions.MAX_MESSAGE.name();

  /** The maximum of each option that is a number. */
  private static final Map<String, Long> MAXIMA =
      Map.ofEntries(
          Map.entry(MAX_MESSAGE, 1L << 20),
          Map.entry(RECEIVES, 4096L),
          Map.entry("window", 4096L),
          Map.entry("ring", MAX_BYTES),
          Map.entry("unacked", 4096L),
          Map.entry("inline", 4096L),
          Map.entry("pollBatch", 32L),
          Map.entry("repostBatch", 64L),
          Map.entry("rnrRetry", 7L),
          Map.entry("ackTimeout", 18L));

  /** Options of a few values, each of which is allowed. */
  private static final Set<String> CHOICES =
      Set.of("srq", "singleReceiver", "credits", "mapping", "acknowledge");

  private AllowedSettings() {}

  /**
   * Checks a request.
   *
   * @throws IllegalArgumentException if it is not allowed, with the limit that it exceeds
   */
  static void check(ProviderInfo provider, ServerSettings settings) {
    if (FreshAddress.isLocal(provider)) {
      throw new IllegalArgumentException(
          provider.scheme() + " does not connect hosts, so that no server is started for it");
    }
    if (Arrays.stream(WaitStrategy.values())
        .noneMatch(known -> known.name().toLowerCase(Locale.ROOT).equals(settings.waiting()))) {
      throw new IllegalArgumentException("unknown wait strategy");
    }
    ConnectionOptions.Builder options = ConnectionOptions.builder();
    settings
        .options()
        .forEach(
            (name, value) -> {
              checkOption(provider, name, value);
              options.set(name, value);
            });
    checkMemory(provider, options.build());
  }

  private static void checkOption(ProviderInfo provider, String name, String value) {
    Object parsed = find(provider, name).parse(value);
    boolean allowed = CHOICES.contains(name);
    if (parsed instanceof Number number && MAXIMA.containsKey(name)) {
      allowed = number.longValue() <= MAXIMA.get(name);
    } else if (parsed instanceof Duration time
        && name.equals(StandardOptions.CONNECT_TIMEOUT.name())) {
      allowed = time.compareTo(MAX_CONNECT_TIMEOUT) <= 0;
    }
    if (!allowed) {
      throw new IllegalArgumentException(
          "option "
              + name
              + "="
              + value
              + " is not allowed"
              + (MAXIMA.containsKey(name) ? "; the maximum is " + MAXIMA.get(name) : ""));
    }
  }

  private static Option<?> find(ProviderInfo provider, String name) {
    return provider.options().stream()
        .filter(option -> option.name().equals(name))
        .findFirst()
        .orElseThrow(
            () -> new IllegalArgumentException(provider.scheme() + " has no option " + name));
  }

  /** Checks the buffers of sendrecv, each of which has room for the longest message. */
  private static void checkMemory(ProviderInfo provider, ConnectionOptions options) {
    if (provider.options().stream().anyMatch(option -> option.name().equals(RECEIVES))
        && options.get(find(provider, RECEIVES)) instanceof Number receives
        && options.get(find(provider, MAX_MESSAGE)) instanceof Number longest
        && receives.longValue() * longest.longValue() > MAX_BYTES) {
      throw new IllegalArgumentException(
          receives + " receives of " + longest + " bytes exceed the limit of " + MAX_BYTES);
    }
  }
}
