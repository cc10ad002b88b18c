// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import dev.ferrule.spi.ConnectionProvider;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * Immutable options of a connection or listener. The options of every provider are in {@link
 * StandardOptions}; those specific to a provider are set by name.
 *
 * <p>A name may be preceded by a scheme and a dot: {@code sm.ring} is the option {@code ring} of
 * addresses of the scheme {@code sm}, and is ignored for any other address. So the same options can
 * be used for addresses of several providers. Such a name takes precedence over the name alone; the
 * query of a URI takes precedence over both.
 *
 * {@snippet lang=java :
 * ConnectionOptions options =
 *     ConnectionOptions.builder()
 *         .set(StandardOptions.WAIT, WaitStrategy.SPIN)
 *         .set(StandardOptions.PEER_TIMEOUT, Duration.ofSeconds(3))
 *         .set("sm.ring", "64KiB") // for addresses of sm
 *         .set("sendrecv.receives", "128") // for addresses of sendrecv
 *         .build();
 * try (Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-options?maxMessage=64KiB"), options)) {
 *   System.out.println(listener.uri().getScheme()); // sm
 * }
 * }
 */
public final class ConnectionOptions {

  private static final ConnectionOptions DEFAULTS = new Builder().build();

  /** Ferrule's own schemes, whose providers may be absent. */
  private static final List<String> SCHEMES = List.of("magicring", "sendrecv", "sm");

  private final Map<String, String> values; // by name, so that the same error is found each time
  private final byte[] payload;

  private ConnectionOptions(Map<String, String> values, byte[] payload) {
    this.values = new TreeMap<>(values);
    this.payload = payload;
  }

  /** {@return options with default values} */
  public static ConnectionOptions defaults() {
    return DEFAULTS;
  }

  /** {@return a new builder that starts from the defaults} */
  public static Builder builder() {
    return new Builder();
  }

  /** {@return a new builder that starts from these options} */
  public Builder toBuilder() {
    Builder builder = new Builder();
    builder.values.putAll(values);
    builder.payload = payload;
    return builder;
  }

  /**
   * Returns the value of an option.
   *
   * @param <T> the value's type
   * @param option the option
   * @return the value that was set, or the option's default
   * @throws InvalidOptionException if the option was set by name, to an invalid value
   */
  public <T> T get(Option<T> option) {
    String text = values.get(option.name());
    return text == null ? option.defaultValue() : option.parse(text);
  }

  /**
   * {@return whether an option was set; false if it has its default}
   *
   * @param option the option
   */
  public boolean isSet(Option<?> option) {
    return values.containsKey(option.name());
  }

  /**
   * {@return a copy of the payload that is sent to the listener in the handshake; empty if none was
   * set}
   */
  public byte[] payload() {
    return payload.clone();
  }

  /**
   * Returns the options for an address: those without a scheme, those of the address's scheme, and
   * those of its query, where the later ones take precedence. Validates every name and value
   * against the provider's options. Providers call this before they use any option.
   *
   * @param uri the address, possibly with a query such as {@code ?wait=spin&maxMessage=4KiB}
   * @param known the provider's options
   * @return the options, by names without a scheme
   * @throws InvalidOptionException if a name is unknown or occurs twice in the query, or a value is
   *     invalid; also of a name of another scheme, if its provider is present
   */
  public ConnectionOptions resolve(URI uri, Collection<Option<?>> known) {
    Map<String, String> merged = new LinkedHashMap<>();
    Map<String, String> specific = new LinkedHashMap<>();
    values.forEach((name, text) -> {
      int dot = name.indexOf('.');
      if (dot < 0) {
        merged.put(name, text);
      } else if (name.substring(0, dot).equalsIgnoreCase(uri.getScheme())) {
        specific.put(name.substring(dot + 1), text);
      } else {
        checkOther(uri, name.substring(0, dot), name.substring(dot + 1), text);
      }
    });
    merged.putAll(specific);
    merged.putAll(parseQuery(uri));
    merged.forEach((name, text) -> check(uri, name, text, known));
    return new ConnectionOptions(merged, payload);
  }

  private static void check(URI uri, String name, String text, Collection<Option<?>> known) {
    Option<?> option =
        known.stream()
            .filter(candidate -> candidate.name().equals(name))
            .findFirst()
            .orElseThrow(() -> unknown(uri, "option '" + name + "'; valid options", names(known)));
    try {
      option.parse(text);
    } catch (InvalidOptionException e) {
      throw new InvalidOptionException(uri, String.valueOf(e.getMessage()), e.getCause());
    }
  }

  /** Checks an option of another scheme as far as possible: its provider may be absent. */
  private static void checkOther(URI uri, String scheme, String name, String text) {
    for (ConnectionProvider provider : Providers.all()) {
      if (provider.scheme().equalsIgnoreCase(scheme)) {
        check(uri, name, text, provider.options());
        return;
      }
    }
    if (!SCHEMES.contains(scheme.toLowerCase(Locale.ROOT))) {
      throw unknown(uri, "scheme in option '" + scheme + "." + name + "'; known schemes", SCHEMES);
    }
  }

  private static List<String> names(Collection<Option<?>> options) {
    return options.stream().<String>map(Option::name).sorted().toList();
  }

  private static InvalidOptionException unknown(URI uri, String what, List<String> known) {
    return new InvalidOptionException(
        uri, "unknown " + what + ": " + String.join(", ", known), null);
  }

  private static Map<String, String> parseQuery(URI uri) {
    Map<String, String> result = new LinkedHashMap<>();
    String query = uri.getRawQuery();
    if (query == null || query.isEmpty()) {
      return result;
    }
    for (String part : query.split("&", -1)) {
      int equals = part.indexOf('=');
      String name =
          URLDecoder.decode(equals < 0 ? part : part.substring(0, equals), StandardCharsets.UTF_8);
      String text =
          equals < 0 ? "" : URLDecoder.decode(part.substring(equals + 1), StandardCharsets.UTF_8);
      if (name.isEmpty()) {
        throw new InvalidOptionException(
            uri, "the query has an option without a name; write ?name=value&name=value", null);
      }
      if (result.put(name, text) != null) {
        throw new InvalidOptionException(uri, "option '" + name + "' is given twice", null);
      }
    }
    return result;
  }

  @Override
  public String toString() {
    return values + (payload.length == 0 ? "" : " with a payload of " + payload.length + " bytes");
  }

  /** Builds {@link ConnectionOptions}. Not thread-safe. */
  public static final class Builder {
    private final Map<String, String> values = new LinkedHashMap<>();
    private byte[] payload = {};

    private Builder() {}

    /**
     * Sets an option.
     *
     * @param <T> the value's type
     * @param option the option
     * @param value its value
     * @return this builder
     * @throws InvalidOptionException if the value is out of range
     */
    public <T> Builder set(Option<T> option, T value) {
      values.put(option.name(), option.format(option.check(value)));
      return this;
    }

    /**
     * Sets an option by name, for example one specific to a provider. The value is validated when
     * the options are used.
     *
     * @param name the option's name, or a scheme, a dot and the option's name, such as {@code
     *     sm.ring}
     * @param text its value, as in a URI's query
     * @return this builder
     */
    public Builder set(String name, String text) {
      values.put(Objects.requireNonNull(name, "name"), Objects.requireNonNull(text, "text"));
      return this;
    }

    /**
     * Sets the payload that is sent to the listener in the handshake. Only for {@code connect}; a
     * listener replies by {@link ConnectionRequest#accept(byte[])}.
     *
     * @param bytes the payload; every provider supports at least 28 bytes
     * @return this builder
     */
    public Builder payload(byte[] bytes) {
      payload = bytes.clone();
      return this;
    }

    /** {@return the immutable options} */
    public ConnectionOptions build() {
      return new ConnectionOptions(values, payload);
    }
  }
}
