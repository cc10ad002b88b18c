// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.context;

import dev.ferrule.InvalidAddressException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;

/**
 * An address of the form {@code scheme://HOST:PORT}.
 *
 * @param scheme the provider's scheme
 * @param host the host as written by the user; an IPv6 address in brackets
 * @param port the port, 0 to 65535; for 0 the system chooses a port to listen on
 */
public record RdmaAddress(String scheme, String host, int port) {

  /**
   * Parses an address.
   *
   * @param uri the address as written by the user; may have a query
   * @return the address
   * @throws InvalidAddressException if the URI is not an address
   */
  public static RdmaAddress parse(URI uri) {
    String scheme = uri.getScheme();
    if (uri.getHost() == null && hostPart(uri).contains("_")) {
      throw new InvalidAddressException(
          uri,
          "a host name must not contain '_' (RFC 952): write "
              + scheme
              + "://HOST:PORT with its IP"
              + " address",
          null);
    }
    if (uri.isOpaque() || uri.getHost() == null) {
      throw new InvalidAddressException(
          uri, "an address needs a host and a port: write " + scheme + "://HOST:PORT", null);
    }
    if (uri.getPort() < 0 || uri.getPort() > 0xffff) {
      throw new InvalidAddressException(
          uri,
          (uri.getPort() < 0 ? "the port is missing" : "invalid port " + uri.getPort())
              + ": write "
              + scheme
              + "://HOST:PORT with a port from 0 to 65535",
          null);
    }
    if (uri.getUserInfo() != null || !uri.getPath().isEmpty() && !uri.getPath().equals("/")) {
      throw new InvalidAddressException(
          uri, "an address has only a host and a port: write " + scheme + "://HOST:PORT", null);
    }
    return new RdmaAddress(scheme, uri.getHost(), uri.getPort());
  }

  /** Returns the part before the port, even if it is not a valid host. */
  private static String hostPart(URI uri) {
    String authority = uri.getAuthority() == null ? "" : uri.getAuthority();
    int colon = authority.lastIndexOf(':');
    return colon < 0 ? authority : authority.substring(0, colon);
  }

  /**
   * Resolves the host.
   *
   * @return the address
   * @throws InvalidAddressException if the host is unknown
   */
  public InetSocketAddress resolve() {
    try {
      return new InetSocketAddress(InetAddress.getByName(host), port);
    } catch (UnknownHostException e) {
      throw new InvalidAddressException(
          uri(), "unknown host: check the name, or write its IP address", e);
    }
  }

  /**
   * Returns the address with another port.
   *
   * @param newPort the port
   * @return the address
   */
  public RdmaAddress withPort(int newPort) {
    return new RdmaAddress(scheme, host, newPort);
  }

  /**
   * Returns the address with another host and port.
   *
   * @param found the host and the port
   * @return the address
   */
  public RdmaAddress at(InetSocketAddress found) {
    InetAddress address = found.getAddress();
    String text = address.getHostAddress();
    return new RdmaAddress(
        scheme, address instanceof Inet6Address ? "[" + text + "]" : text, found.getPort());
  }

  /** {@return whether the address is the wildcard address} */
  public boolean isWildcard() {
    return resolve().getAddress().isAnyLocalAddress();
  }

  /** {@return the address as a URI, without a query} */
  public URI uri() {
    return uri(null);
  }

  /**
   * Returns the address of one connection.
   *
   * @param connection the connection's number
   * @return the URI, with the number as its fragment
   */
  public URI connectionUri(long connection) {
    return uri(Long.toString(connection));
  }

  private URI uri(@Nullable String fragment) {
    try {
      return new URI(scheme, null, host, port, null, null, fragment);
    } catch (URISyntaxException e) {
      throw new AssertionError("a host and a port make a URI", e);
    }
  }
}
