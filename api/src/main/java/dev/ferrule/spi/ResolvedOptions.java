// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.InvalidOptionException;
import dev.ferrule.Option;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * The options of one connection or listener: a value for each option of its provider. Immutable.
 * Providers resolve the program's options before they use any.
 */
public final class ResolvedOptions {

  /** Ferrule's own schemes, whose providers may be absent. */
  private static final List<String> SCHEMES = List.of("magicring", "sendrecv", "sm");

  private final Map<String, String> values;
  private final byte[] payload;

  private ResolvedOptions(Map<String, String> values, byte[] payload) {
    this.values = values;
    this.payload = payload;
  }

  /**
   * Resolves the program's options for an address: the provider's defaults, the options without a
   * scheme, those of the address's scheme, and those of its query, where the later ones take
   * precedence. Validates every name and value against the provider's options.
   *
   * @param options the options that the program has set
   * @param uri the address, possibly with a query such as {@code ?wait=spin&maxMessage=4KiB}
   * @param known the provider's options
   * @return the value of each of the provider's options
   * @throws InvalidOptionException if a name is unknown or occurs twice in the query, a value is
   *     invalid, or the query differs from the program in an option that it {@linkplain
   *     Option#queryOverrides() cannot override}; also of a name of another scheme, if its provider
   *     is present
   */
  public static ResolvedOptions of(
      ConnectionOptions options, URI uri, Collection<Option<?>> known) {
    Map<String, String> program = new TreeMap<>(); // so that the same error is found each time
    Map<String, String> specific = new LinkedHashMap<>();
    options
        .values()
        .forEach((name, text) -> {
          int dot = name.indexOf('.');
          if (dot < 0) {
            program.put(name, text);
          } else if (name.substring(0, dot).equalsIgnoreCase(uri.getScheme())) {
            specific.put(name.substring(dot + 1), text);
          } else {
            checkOther(uri, name.substring(0, dot), name.substring(dot + 1), text);
          }
        });
    program.putAll(specific);
    program.forEach((name, text) -> check(uri, name, text, known));
    Map<String, String> query = parseQuery(uri);
    query.forEach((name, text) -> checkQuery(check(uri, name, text, known), uri, text, program));
    Map<String, String> merged = new TreeMap<>();
    known.forEach(option -> merged.put(option.name(), option.defaultText()));
    merged.putAll(program);
    merged.putAll(query);
    return new ResolvedOptions(merged, options.payload());
  }

  /** Checks a value, and returns its option. */
  private static Option<?> check(URI uri, String name, String text, Collection<Option<?>> known) {
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
    return option;
  }

  private static void checkQuery(
      Option<?> option, URI uri, String text, Map<String, String> program) {
    String own = program.get(option.name());
    if (own != null && !option.queryOverrides() && !option.parse(own).equals(option.parse(text))) {
      throw new InvalidOptionException(
          uri,
          ("the program has set %1$s=%2$s, and the address's query %1$s=%3$s: the query cannot"
                  + " override this option; remove it there, or let the program set %1$s=%3$s")
              .formatted(option.name(), own, text),
          null);
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
        throw new InvalidOptionException(
            uri, "option '" + name + "' is given twice; remove one of them", null);
      }
    }
    return result;
  }

  /**
   * Returns the value of an option.
   *
   * @param <T> the value's type
   * @param option one of the provider's options, whatever its default here
   * @return the value
   * @throws IllegalArgumentException if the provider does not have the option
   */
  public <T> T get(Option<T> option) {
    String text = values.get(option.name());
    if (text == null) {
      throw new IllegalArgumentException("not an option of this provider: " + option.name());
    }
    return option.parse(text);
  }

  /** {@return a copy of the payload for the listener; empty if none was set} */
  public byte[] payload() {
    return payload.clone();
  }

  @Override
  public String toString() {
    return values.toString();
  }
}
