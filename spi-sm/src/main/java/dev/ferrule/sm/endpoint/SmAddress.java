// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.InvalidAddressException;
import dev.ferrule.posix.DatagramSocket;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An address of the sm provider: {@code sm://PATH}, a directory that contains endpoints, or {@code
 * sm://PATH/PID/ID}, one endpoint.
 *
 * @param base the directory PATH, absolute and normalized
 * @param endpoint the endpoint's PID and ID, or null if the address names only the directory
 */
public record SmAddress(Path base, @Nullable Id endpoint) {

  /** The URI scheme. */
  public static final String SCHEME = "sm";

  /** A process id, as a directory name. No leading zeros, so that each id has a single name. */
  static final Pattern PID = Pattern.compile("[1-9]\\d{0,8}");

  /** An endpoint's number, as a directory name. */
  static final Pattern NUMBER = Pattern.compile("[1-9]\\d{0,4}");

  private static final Pattern TWO_NUMBERS = Pattern.compile(".*/\\d+/\\d+", Pattern.DOTALL);

  private static final Pattern ENDPOINT =
      Pattern.compile("(.*)/(" + PID + ")/(" + NUMBER + ")", Pattern.DOTALL);

  // The longest endpoint below PATH: /PID/ID/sock, with a PID of 8 digits (the kernel's limit is
  // 2^22, and ten times that for alternative names) and an ID of 5.
  private static final String LONGEST_ENDPOINT = "/41943040/65535/sock";

  /**
   * Identifies an endpoint of a directory.
   *
   * @param pid the id of the process that created it, in its own PID namespace
   * @param number its number among the endpoints of that process id, from 1
   */
  public record Id(long pid, int number) {

    /** By process id, and then by number. */
    static final Comparator<Id> ORDER =
        Comparator.comparingLong(Id::pid).thenComparingInt(Id::number);

    static Id of(String pid, String number) {
      return new Id(Long.parseLong(pid), Integer.parseInt(number));
    }

    @Override
    public String toString() {
      return pid + "/" + number;
    }
  }

  /**
   * Parses an address.
   *
   * @param uri the address as the user wrote it, with an optional query
   * @return the address
   * @throws InvalidAddressException if it is malformed, or its socket's path would be too long
   */
  public static SmAddress parse(URI uri) {
    String authority = uri.getRawAuthority();
    if (authority != null && !authority.isEmpty()) {
      throw new InvalidAddressException(
          uri,
          "an address of sm has no host, but this one has '%s'; write three slashes: sm:///%1$s%s"
              .formatted(authority, uri.getPath()),
          null);
    }
    String path = uri.getPath();
    if (uri.isOpaque() || path == null || !path.startsWith("/")) {
      throw new InvalidAddressException(
          uri, "the path must be absolute; write sm:///DIRECTORY, such as sm:///tmp/app", null);
    }
    if (path.indexOf('\0') >= 0) {
      throw new InvalidAddressException(uri, "the path contains a zero byte; remove %00", null);
    }
    try {
      Path normal = Path.of(path).normalize();
      Matcher matcher = ENDPOINT.matcher(normal.toString());
      SmAddress address =
          matcher.matches()
              ? new SmAddress(
                  Path.of(matcher.group(1).isEmpty() ? "/" : matcher.group(1)),
                  Id.of(matcher.group(2), matcher.group(3)))
              : new SmAddress(normal, null);
      address.checkLength(uri);
      return address;
    } catch (InvalidPathException | NumberFormatException e) {
      throw new InvalidAddressException(
          uri, "not a valid path on this system: " + e.getMessage(), e);
    }
  }

  /**
   * {@return whether a directory PATH looks like a mistyped endpoint: it ends in two numbers that
   * are too long for one}
   *
   * @param base the directory
   */
  public static boolean isNearlyEndpoint(Path base) {
    return TWO_NUMBERS.matcher(base.toString()).matches();
  }

  private void checkLength(URI uri) {
    String longest =
        endpoint == null
            ? base + LONGEST_ENDPOINT
            : directory().resolve(EndpointFiles.SOCKET).toString();
    int length = longest.getBytes(StandardCharsets.UTF_8).length;
    if (length > DatagramSocket.MAX_PATH) {
      throw new InvalidAddressException(
          uri,
          ("the path is too long: the endpoint's socket would have a path of %s bytes, and a Unix"
                  + " domain socket's path has at most %s; use a shorter directory, such as one in"
                  + " /dev/shm")
              .formatted(length, DatagramSocket.MAX_PATH),
          null);
    }
    if (base.getNameCount() == 0) {
      throw new InvalidAddressException(
          uri,
          "the root directory cannot hold endpoints; name a directory, such as sm:///tmp/app",
          null);
    }
  }

  /**
   * {@return the endpoint's directory, PATH/PID/ID}
   *
   * @throws IllegalStateException if the address names no endpoint
   */
  public Path directory() {
    if (endpoint == null) {
      throw new IllegalStateException("no endpoint in " + this);
    }
    return base.resolve(Long.toString(endpoint.pid())).resolve(Integer.toString(endpoint.number()));
  }

  /**
   * {@return the address of an endpoint of the same directory}
   *
   * @param id the endpoint
   */
  public SmAddress with(Id id) {
    return new SmAddress(base, id);
  }

  /** {@return the address as a URI, without a query} */
  public URI uri() {
    return uri(null);
  }

  /**
   * {@return the address of one connection of the endpoint, with its number as the fragment}
   *
   * @param connection the connection's number at its endpoint
   */
  public URI connectionUri(int connection) {
    return uri(Integer.toString(connection));
  }

  private URI uri(@Nullable String fragment) {
    try {
      return new URI(
          SCHEME, "", (endpoint == null ? base : directory()).toString(), null, fragment);
    } catch (URISyntaxException e) {
      throw new AssertionError("an absolute path is always a valid URI path", e);
    }
  }
}
