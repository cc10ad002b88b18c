// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import dev.ferrule.spi.ConnectionProvider;
import java.net.URI;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The way in: connects to an address, or listens on one. The URI's scheme picks the provider among
 * those that are on the class path or module path.
 *
 * <table>
 * <caption>Addresses</caption>
 * <tr><th>scheme</th><th>between</th><th>address</th></tr>
 * <tr><td>{@code sm}</td><td>processes of one host</td><td>{@code sm:///DIRECTORY[/PID/ID]}</td></tr>
 * <tr><td>{@code sendrecv}, {@code magicring}</td><td>hosts, over RDMA</td><td>{@code sendrecv://HOST:PORT}</td></tr>
 * </table>
 *
 * <p>Options may ride in the query: {@code sm:///tmp/app?wait=spin&maxMessage=64KiB}.
 *
 * {@snippet lang=java :
 * try (Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-hello"))) {
 *   var connecting = CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
 *   try (Connection server = listener.accept();
 *       Connection client = connecting.join()) {
 *     client.sender().send(MemorySegment.ofArray("hello".getBytes()));
 *     try (ReceiveRegion message = server.receiver().receive()) {
 *       System.out.println(message.length()); // 5
 *     }
 *   }
 * }
 * }
 */
public final class Ferrule {

  private Ferrule() {}

  /**
   * Connects to a listener, with default options.
   *
   * @param address where the listener is
   * @return the connection, ready for messages
   * @see #connect(URI, ConnectionOptions)
   */
  public static Connection connect(URI address) {
    return connect(address, ConnectionOptions.defaults());
  }

  /**
   * Connects to a listener. Blocks until its program has accepted, no longer than {@link
   * StandardOptions#CONNECT_TIMEOUT}.
   *
   * @param address where the listener is; its query may set options
   * @param options options, which the address's query overrides
   * @return the connection, ready for messages
   * @throws InvalidAddressException if the address is not one of the provider's
   * @throws InvalidOptionException if an option is unknown or not valid
   * @throws ProviderUnavailableException if there is no such provider, or it cannot work here
   * @throws ConnectionRefusedException if nobody listens there
   * @throws ConnectionRejectedException if the listener's program rejected the connection
   * @throws VersionMismatchException if the listener speaks another version of the protocol
   * @throws OperationTimeoutException if the listener did not accept in time
   * @throws ResourceExhaustedException if the system has no room for another connection
   */
  public static Connection connect(URI address, ConnectionOptions options) {
    return usable(address).connect(address, options);
  }

  /**
   * Listens on an address, with default options.
   *
   * @param address where to listen
   * @return the listener
   * @see #listen(URI, ConnectionOptions)
   */
  public static Listener listen(URI address) {
    return listen(address, ConnectionOptions.defaults());
  }

  /**
   * Listens on an address. The options are those of the connections that will be accepted.
   *
   * @param address where to listen; its query may set options
   * @param options options, which the address's query overrides
   * @return the listener
   * @throws InvalidAddressException if the address is not one of the provider's
   * @throws InvalidOptionException if an option is unknown or not valid
   * @throws ProviderUnavailableException if there is no such provider, or it cannot work here
   * @throws AddressInUseException if a live listener holds the address
   * @throws ResourceExhaustedException if the system lacks a resource
   */
  public static Listener listen(URI address, ConnectionOptions options) {
    return usable(address).listen(address, options);
  }

  /**
   * Returns the providers that are on the class path or module path, whether or not they can work
   * here; see {@link ConnectionProvider#availability()}.
   *
   * @return the providers, by scheme
   */
  public static List<ConnectionProvider> providers() {
    return Providers.all();
  }

  private static ConnectionProvider usable(URI address) {
    @Nullable String scheme = address.getScheme();
    if (scheme == null) {
      throw new InvalidAddressException(
          address, "the address has no scheme; write one such as " + examples(), null);
    }
    ConnectionProvider provider =
        Providers.all().stream()
            .filter(candidate -> candidate.scheme().equalsIgnoreCase(scheme))
            .findFirst()
            .orElseThrow(() -> noProvider(address, scheme));
    Availability availability = provider.availability();
    if (!availability.available()) {
      throw new ProviderUnavailableException(
          address,
          "the "
              + scheme
              + " provider cannot work here: "
              + availability.reason()
              + "; "
              + availability.remedy(),
          null);
    }
    return provider;
  }

  private static ProviderUnavailableException noProvider(URI address, String scheme) {
    List<ConnectionProvider> all = Providers.all();
    String found =
        all.isEmpty()
            ? "there are none on the class path or module path; add one, such as dev.ferrule:ferrule-spi-sm"
            : "those that are here serve "
                + all.stream().map(ConnectionProvider::scheme).collect(Collectors.joining(", "));
    return new ProviderUnavailableException(
        address,
        "no provider serves the scheme '" + scheme + "'; " + found + Providers.problems(),
        null);
  }

  private static String examples() {
    return Providers.all().isEmpty()
        ? "sm:///tmp/app"
        : Providers.all().stream()
            .map(ConnectionProvider::exampleAddress)
            .collect(Collectors.joining(" or "));
  }
}
