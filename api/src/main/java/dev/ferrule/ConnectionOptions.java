// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The options that a program sets for a connection or listener. Those of every provider are in
 * {@link StandardOptions}; those specific to a provider are set by name. Immutable.
 *
 * <p>A name may be preceded by a scheme and a dot: {@code sm.ring} is the option {@code ring} of
 * addresses of the scheme {@code sm}, and is ignored for any other address. It is needed only if
 * the same options are used for addresses of several providers: the name alone is an error for a
 * provider without that option, and {@code ring} of {@code magicring} is another option. The name
 * with a scheme takes precedence over the name alone. The query of a URI has names without scheme.
 *
 * <p>The query of a URI takes precedence over both, unless {@link Option#queryOverrides()} is
 * false, as it is for an option that touches security: {@code access} of {@code sm}, the users that
 * may connect. Then a query with another value than the program's is refused by an {@link
 * InvalidOptionException}.
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

  private final Map<String, String> values; // by name, so that the same error is found each time
  private final byte[] payload;

  private ConnectionOptions(Map<String, String> values, byte[] payload) {
    this.values = Collections.unmodifiableMap(new TreeMap<>(values));
    this.payload = payload;
  }

  /** {@return options of which none is set} */
  public static ConnectionOptions defaults() {
    return DEFAULTS;
  }

  /** {@return a new builder of options of which none is set} */
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
   * Returns the value to which an option was set, by its name without a scheme. The default of an
   * option that was not set depends on the provider: see {@link ProviderInfo#options()}.
   *
   * @param <T> the value's type
   * @param option the option
   * @return the value; empty if the option was not set
   * @throws InvalidOptionException if the option was set by name, to an invalid value
   */
  public <T> Optional<T> find(Option<T> option) {
    return Optional.ofNullable(values.get(option.name())).map(option::parse);
  }

  /**
   * {@return the options that were set, by name: the texts of their values, as in a URI's query}
   */
  public Map<String, String> values() {
    return values;
  }

  /**
   * {@return a copy of the payload that is sent to the listener in the handshake; empty if none was
   * set}
   */
  public byte[] payload() {
    return payload.clone();
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
      payload = Objects.requireNonNull(bytes, "bytes").clone();
      return this;
    }

    /** {@return the immutable options} */
    public ConnectionOptions build() {
      return new ConnectionOptions(values, payload);
    }
  }
}
