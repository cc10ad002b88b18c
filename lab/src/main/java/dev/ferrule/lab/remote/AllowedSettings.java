// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.remote;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.Option;
import dev.ferrule.ProviderInfo;
import dev.ferrule.StandardOptions;
import dev.ferrule.WaitStrategy;
import dev.ferrule.lab.evaluate.Catalogue;
import dev.ferrule.lab.evaluate.ServerSettings;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.tools.bench.FreshAddress;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The settings that another host may request for a server: transports between hosts, and options
 * that open no file, with limits on the memory that they take.
 */
public final class AllowedSettings {

  /** The maximum memory of the receive buffers or the ring of a connection, in bytes. */
  private static final long MAX_BYTES = 64 << 20;

  /** The maximum memory of all connections of a server, in bytes. */
  private static final long MAX_BYTES_OF_SERVER = 4L << 30;

  private static final int MOST_CLIENTS = 512;
  private static final long AUTOMATIC_BYTES = 4 << 20;

  // as sendrecv chooses them, see SendRecvOptions
  private static final int MIN_RECEIVES = 8;
  private static final int MAX_AUTOMATIC_RECEIVES = 256;
  private static final int CONTROL_RECEIVES = 4;
  private static final long SHARED_BYTES = 16 << 20;
  private static final int MIN_SHARED_RECEIVES = 64;
  private static final int MAX_SHARED_RECEIVES = 4096;

  /** Each receive buffer is rounded up to a multiple of this. */
  private static final int LINE = 64;

  private static final int MESSAGES_IN_AREA = 4;

  private static final Duration MAX_CONNECT_TIMEOUT = Duration.ofSeconds(120);
  private static final String RECEIVES = "receives";
  private static final String SRQ = "srq";
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
      Set.of(SRQ, "singleReceiver", "credits", "mapping", "acknowledge");

  private AllowedSettings() {}

  /**
   * Throws an {@link IllegalArgumentException} that states the limit if a request is not allowed.
   */
  static void check(ProviderInfo provider, ServerSettings settings) {
    if (FreshAddress.isLocal(provider)) {
      throw new IllegalArgumentException(
          provider.scheme() + " does not connect hosts: no server is started for it");
    }
    if (Arrays.stream(WaitStrategy.values())
        .noneMatch(known -> known.name().toLowerCase(Locale.ROOT).equals(settings.waiting()))) {
      throw new IllegalArgumentException("unknown wait strategy");
    }
    settings.options().forEach((name, value) -> checkOption(provider, name, value));
    checkMemory(provider, options(provider, settings));
  }

  private static ResolvedOptions options(ProviderInfo provider, ServerSettings settings) {
    ConnectionOptions.Builder options = ConnectionOptions.builder();
    settings.options().forEach(options::set);
    return ResolvedOptions.of(
        options.build(), URI.create(provider.scheme() + ":///"), provider.options());
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
          "option %s=%s is not allowed".formatted(name, value)
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

  /**
   * Returns further arguments of {@code serve} that limit the memory of a server's connections,
   * whatever its clients announce.
   */
  public static List<String> bounds(ProviderInfo provider, ServerSettings settings) {
    ResolvedOptions all = options(provider, settings);
    long longest = number(provider, all, MAX_MESSAGE);
    long sending = Math.max(AUTOMATIC_BYTES, MESSAGES_IN_AREA * longest);
    boolean shares = sharesReceives(provider, all);
    long receives = receives(provider, all) * bufferBytes(longest);
    long shared = shares ? receives : 0;
    long own = shares ? 0 : receives;
    long receiving = Math.max(sending, Math.max(own, number(provider, all, "ring")));
    long clients =
        Math.clamp((MAX_BYTES_OF_SERVER - shared) / (sending + receiving), 1, MOST_CLIENTS);
    return List.of("--option=sendBuffer=" + sending, "--max-clients=" + clients);
  }

  /**
   * Returns the number of receive buffers: those of a connection, or of the server if its
   * connections share them; 0 if the provider has none.
   */
  static long receives(ProviderInfo provider, ResolvedOptions options) {
    if (!Catalogue.has(provider, RECEIVES)) {
      return 0;
    }
    long chosen = number(provider, options, RECEIVES);
    long longest = number(provider, options, MAX_MESSAGE);
    if (sharesReceives(provider, options)) {
      return chosen > 0
          ? chosen
          : Math.clamp(SHARED_BYTES / longest, MIN_SHARED_RECEIVES, MAX_SHARED_RECEIVES);
    }
    return CONTROL_RECEIVES
        + (chosen > 0
            ? chosen
            : Math.clamp(AUTOMATIC_BYTES / longest, MIN_RECEIVES, MAX_AUTOMATIC_RECEIVES));
  }

  private static boolean sharesReceives(ProviderInfo provider, ResolvedOptions options) {
    return provider.options().stream()
        .filter(option -> option.name().equals(SRQ))
        .anyMatch(option -> options.get(option) instanceof Enum<?> on && on.name().equals("ON"));
  }

  private static long bufferBytes(long longest) {
    return (longest + LINE - 1) / LINE * LINE;
  }

  /** Returns the value of an option; 0 if the provider does not have it. */
  private static long number(ProviderInfo provider, ResolvedOptions options, String name) {
    for (Option<?> option : provider.options()) {
      if (option.name().equals(name) && options.get(option) instanceof Number number) {
        return number.longValue();
      }
    }
    return 0;
  }

  /** Checks the buffers of sendrecv, each of which has room for the longest message. */
  private static void checkMemory(ProviderInfo provider, ResolvedOptions options) {
    long receives = receives(provider, options);
    long longest = number(provider, options, MAX_MESSAGE);
    if (receives * bufferBytes(longest) > MAX_BYTES) {
      throw new IllegalArgumentException(
          receives + " receive buffers of " + longest + " bytes exceed the limit of " + MAX_BYTES);
    }
  }
}
