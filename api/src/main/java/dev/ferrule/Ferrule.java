// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.spi.Providers;
import java.net.URI;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The entry point: connects to an address, or listens on one. The URI's scheme selects a transport,
 * which is one of the providers on the class path or module path. Any thread may call its methods.
 *
 * <table>
 * <caption>Addresses</caption>
 * <tr><th>scheme</th><th>between</th><th>address</th></tr>
 * <tr><td>{@code sm}</td><td>processes of one host</td><td>{@code sm:///DIRECTORY[/PID/ID]}</td></tr>
 * <tr><td>{@code sendrecv}, {@code magicring}</td><td>hosts, over RDMA</td><td>{@code
 * sendrecv://HOST:PORT}; the port 0 lets the system choose one</td></tr>
 * </table>
 *
 * <p>In {@code sm}, each listener creates an endpoint {@code DIRECTORY/PID/ID}. Without {@code
 * /PID/ID}, a client connects to the only live listener in the directory.
 *
 * <p>The query of the URI may set options: {@code sm:///tmp/app?wait=spin&maxMessage=64KiB}. The
 * sources of the transports are CCI's sm transport and the RDMA messaging protocols of the
 * KnowYourMemory thesis, see docs/sources.md.
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
   * Connects to a listener as {@link #connect(URI, ConnectionOptions)} does, with default options.
   *
   * @param address the address of the listener
   * @return the connection, ready for messages
   */
  public static Connection connect(URI address) {
    return connect(address, ConnectionOptions.defaults());
  }

  /**
   * Connects to a listener. Blocks until the listener has accepted, for {@link
   * StandardOptions#CONNECT_TIMEOUT} at most. The same call may succeed later, and a program may
   * repeat it after a pause, if it throws {@link ConnectionRefusedException}, {@link
   * OperationTimeoutException} or {@link ResourceExhaustedException}.
   *
   * @param address the address of the listener; its query may set options
   * @param options the options; the address's query takes precedence, see {@link ConnectionOptions}
   * @return the connection, ready for messages
   * @throws InvalidAddressException if the provider cannot use the address
   * @throws InvalidOptionException if an option is unknown or its value is invalid
   * @throws ProviderUnavailableException if there is no provider for the scheme, or it does not
   *     work on this machine
   * @throws ConnectionRefusedException if there is no listener at the address, or there are several
   *     in a directory of {@code sm}, or it cannot accept this side
   * @throws ConnectionRejectedException if the listener rejected the connection
   * @throws VersionMismatchException if the listener speaks another version of the protocol
   * @throws OperationTimeoutException if the listener did not accept within the timeout
   * @throws OperationInterruptedException if the thread is interrupted while it waits
   * @throws ProtocolException if a program other than a listener of the provider answers
   * @throws ResourceExhaustedException if the system lacks a resource for another connection
   * @throws MessageTooLongException if the payload of the options is too long for the transport
   */
  public static Connection connect(URI address, ConnectionOptions options) {
    return usable(address, options).connect(address, options);
  }

  /**
   * Connects to a listener as {@link #connect(URI, ConnectionOptions)} does, on a virtual thread of
   * its own.
   *
   * @param address the address of the listener; its query may set options
   * @param options the options; the address's query takes precedence, as for {@link #connect(URI,
   *     ConnectionOptions)}
   * @return a future of the connection, or of the exception that {@code connect} throws, which
   *     {@code join()} wraps in a {@link java.util.concurrent.CompletionException}. Cancelling it
   *     ends the attempt, and closes a connection that is made nevertheless
   */
  public static CompletableFuture<Connection> connectAsync(URI address, ConnectionOptions options) {
    Objects.requireNonNull(address, "address");
    Objects.requireNonNull(options, "options");
    CompletableFuture<Connection> result = new CompletableFuture<>();
    Thread connecting =
        Thread.ofVirtual()
            .name("ferrule-connect")
            .start(() -> {
              try {
                Connection connection = connect(address, options);
                if (!result.complete(connection)) {
                  connection.close();
                }
              } catch (Throwable e) {
                result.completeExceptionally(e);
              }
            });
    result.whenComplete((connection, failure) -> {
      if (result.isCancelled()) {
        connecting.interrupt();
      }
    });
    return result;
  }

  /**
   * Listens on an address as {@link #listen(URI, ConnectionOptions)} does, with default options.
   *
   * @param address the address to listen on
   * @return the listener
   */
  public static Listener listen(URI address) {
    return listen(address, ConnectionOptions.defaults());
  }

  /**
   * Listens on an address. The options apply to the connections that the listener accepts. A second
   * listener on the same directory of {@code sm} is no error here, but clients that connect to the
   * directory are refused while there are several.
   *
   * @param address the address to listen on; its query may set options
   * @param options the options; the address's query takes precedence, see {@link ConnectionOptions}
   * @return the listener
   * @throws InvalidAddressException if the provider cannot use the address
   * @throws InvalidOptionException if an option is unknown or its value is invalid
   * @throws ProviderUnavailableException if there is no provider for the scheme, or it does not
   *     work on this machine
   * @throws AddressInUseException if another live listener owns the address; in {@code sm} only if
   *     the address names an endpoint, with {@code /PID/ID}
   * @throws ResourceExhaustedException if the system lacks a resource
   */
  public static Listener listen(URI address, ConnectionOptions options) {
    return usable(address, options).listen(address, options);
  }

  /**
   * {@return the providers on the class path or module path, sorted by scheme, whether or not they
   * work on this machine} The first call may load system libraries and search for devices.
   */
  public static List<ProviderInfo> providers() {
    return Providers.all().stream()
        .map(provider ->
            new ProviderInfo(
                provider.scheme(),
                provider.description(),
                provider.exampleAddress(),
                provider.availability(),
                provider.options()))
        .toList();
  }

  private static ConnectionProvider usable(URI address, ConnectionOptions options) {
    Objects.requireNonNull(address, "address");
    Objects.requireNonNull(options, "options");
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
    if (provider.availability() instanceof Availability.Unavailable(String reason, String remedy)) {
      throw new ProviderUnavailableException(
          address, "the " + scheme + " provider is unavailable: " + reason + "; " + remedy, null);
    }
    return provider;
  }

  private static ProviderUnavailableException noProvider(URI address, String scheme) {
    String found =
        Providers.all().stream().map(ConnectionProvider::scheme).collect(Collectors.joining(", "));
    String text =
        "no provider for the scheme '%s' on the class path or module path%s; Ferrule has"
            + " dev.ferrule:ferrule-spi-sm, -sendrecv and -magicring%s";
    return new ProviderUnavailableException(
        address,
        text.formatted(scheme, found.isEmpty() ? "" : ", only for " + found, Providers.problems()),
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
