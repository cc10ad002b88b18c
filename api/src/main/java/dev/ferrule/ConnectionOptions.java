// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Options of a connection or listener, immutable. Those that every provider has are in {@link
 * StandardOptions}; a provider's own are set by name. Options may also ride in the URI's query,
 * where they win over these.
 *
 * {@snippet lang=java :
 * ConnectionOptions options =
 *     ConnectionOptions.builder()
 *         .waitStrategy(WaitStrategy.SPIN)
 *         .set(StandardOptions.PEER_TIMEOUT, Duration.ofSeconds(3))
 *         .set("ring", "64KiB") // an option of the sm provider's own
 *         .build();
 * try (Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-options?maxMessage=64KiB"), options)) {
 *   System.out.println(listener.uri().getScheme()); // sm
 * }
 * }
 */
public final class ConnectionOptions {

  private static final ConnectionOptions DEFAULTS = new Builder().build();

  private final Map<String, String> values;
  private final byte[] payload;

  private ConnectionOptions(Map<String, String> values, byte[] payload) {
    this.values = Map.copyOf(values);
    this.payload = payload;
  }

  /**
   * Returns options that are all at their defaults.
   *
   * @return the options
   */
  public static ConnectionOptions defaults() {
    return DEFAULTS;
  }

  /**
   * Starts from the defaults.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Starts from these options.
   *
   * @return a builder
   */
  public Builder toBuilder() {
    Builder builder = new Builder();
    builder.values.putAll(values);
    builder.payload = payload;
    return builder;
  }

  /**
   * Returns an option's value.
   *
   * @param <T> the value's type
   * @param option the option
   * @return what was set, or the option's default
   * @throws InvalidOptionException if what was set by name is not a value of the option
   */
  public <T> T get(Option<T> option) {
    String text = values.get(option.name());
    return text == null ? option.defaultValue() : option.parse(text);
  }

  /**
   * Tells whether an option was set.
   *
   * @param option the option
   * @return true if it was, false if it is at its default
   */
  public boolean isSet(Option<?> option) {
    return values.containsKey(option.name());
  }

  /**
   * Returns what the peer's program is told when the connection is made.
   *
   * @return a copy of the payload; empty if there is none
   */
  public byte[] payload() {
    return payload.clone();
  }

  /**
   * Adds the options of a URI's query, and checks every name and value against those that the
   * provider knows. Providers call this before they use anything.
   *
   * @param uri the address, perhaps with a query such as {@code ?wait=spin&maxMessage=4KiB}
   * @param known the provider's options
   * @return these options with those of the query, which win
   * @throws InvalidOptionException if a name is unknown, named twice in the query, or a value is
   *     not valid
   */
  public ConnectionOptions resolve(URI uri, Collection<Option<?>> known) {
    Map<String, String> merged = new LinkedHashMap<>(values);
    merged.putAll(parseQuery(uri));
    Map<String, Option<?>> byName = new TreeMap<>();
    known.forEach(option -> byName.put(option.name(), option));
    merged.forEach(
        (name, text) -> {
          Option<?> option = byName.get(name);
          if (option == null) {
            throw new InvalidOptionException(
                uri,
                "unknown option '"
                    + name
                    + "'; known are "
                    + byName.keySet().stream().collect(Collectors.joining(", ")),
                null);
          }
          try {
            option.parse(text);
          } catch (InvalidOptionException e) {
            throw new InvalidOptionException(uri, String.valueOf(e.getMessage()), e.getCause());
          }
        });
    return new ConnectionOptions(merged, payload);
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
    return new TreeMap<>(values)
        + (payload.length == 0 ? "" : " with a payload of " + payload.length + " bytes");
  }

  /** Gathers options. Not for several threads at once. */
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
     * Sets an option by name, for example one of a provider's own. It is checked when the options
     * are used.
     *
     * @param name the option's name
     * @param text its value, as in a URI's query
     * @return this builder
     */
    public Builder set(String name, String text) {
      values.put(Objects.requireNonNull(name, "name"), Objects.requireNonNull(text, "text"));
      return this;
    }

    /**
     * Sets {@link StandardOptions#WAIT}.
     *
     * @param strategy how blocking calls wait
     * @return this builder
     */
    public Builder waitStrategy(WaitStrategy strategy) {
      return set(StandardOptions.WAIT, strategy);
    }

    /**
     * Sets {@link StandardOptions#MAX_MESSAGE}.
     *
     * @param bytes the longest message that this side takes
     * @return this builder
     * @throws InvalidOptionException if the value is out of range
     */
    public Builder maxMessageSize(long bytes) {
      return set(StandardOptions.MAX_MESSAGE, bytes);
    }

    /**
     * Sets {@link StandardOptions#CONNECT_TIMEOUT}.
     *
     * @param timeout how long connecting or accepting may take
     * @return this builder
     * @throws InvalidOptionException if the value is out of range
     */
    public Builder connectTimeout(Duration timeout) {
      return set(StandardOptions.CONNECT_TIMEOUT, timeout);
    }

    /**
     * Sets what the listener's program is told about this client. Only for {@code connect}; a
     * listener answers by {@link ConnectionRequest#accept(byte[])}.
     *
     * @param bytes the payload; every provider takes at least 28 bytes, some take more
     * @return this builder
     */
    public Builder payload(byte[] bytes) {
      payload = bytes.clone();
      return this;
    }

    /**
     * Makes the options.
     *
     * @return immutable options
     */
    public ConnectionOptions build() {
      return new ConnectionOptions(values, payload);
    }
  }
}
