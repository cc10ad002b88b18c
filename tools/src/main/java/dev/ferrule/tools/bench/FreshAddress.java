// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.ProviderInfo;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A unique address of any provider: a new directory in shared memory, or a port chosen by the
 * system. Closing it removes the directory.
 */
public final class FreshAddress implements AutoCloseable {

  private static final Path SHARED_MEMORY = Path.of("/dev/shm");
  private static final String DEFAULT_HOST = "127.0.0.1";

  private final URI uri;
  private final @Nullable Path directory;

  private FreshAddress(URI uri, @Nullable Path directory) {
    this.uri = uri;
    this.directory = directory;
  }

  /**
   * {@return a new address, whose form is derived from the provider's example}
   *
   * @param provider the provider
   * @param host the host or address to listen on, for providers whose addresses have one; chosen if
   *     empty
   */
  public static FreshAddress of(ProviderInfo provider, Optional<String> host) {
    if (!isLocal(provider)) {
      String where = host.or(RdmaHost::address).orElse(DEFAULT_HOST);
      String bracketed =
          where.indexOf(':') >= 0 && !where.startsWith("[") ? "[" + where + "]" : where;
      return new FreshAddress(URI.create(provider.scheme() + "://" + bracketed + ":0"), null);
    }
    try {
      Path directory = Files.createTempDirectory(sharedDirectory(), "ferrule-");
      return new FreshAddress(
          URI.create(provider.scheme() + "://" + directory.toUri().getRawPath()), directory);
    } catch (IOException e) {
      throw new ToolException(
          ExitCode.NO_RESOURCE,
          "cannot create a directory in " + sharedDirectory() + ": " + e.getMessage(),
          e);
    }
  }

  /**
   * {@return whether a provider connects only processes of one host: its addresses have no host}
   *
   * @param provider the provider
   */
  public static boolean isLocal(ProviderInfo provider) {
    return URI.create(provider.exampleAddress()).getRawAuthority() == null;
  }

  /** {@return the directory for files that processes share: in memory, if the system has one} */
  public static Path sharedDirectory() {
    return Files.isDirectory(SHARED_MEMORY) && Files.isWritable(SHARED_MEMORY)
        ? SHARED_MEMORY
        : Path.of(System.getProperty("java.io.tmpdir"));
  }

  /** {@return the address, a URI without options} */
  public URI uri() {
    return uri;
  }

  /** {@return the directory that is removed on close; empty if the address has none} */
  public Optional<Path> directory() {
    return Optional.ofNullable(directory);
  }

  @Override
  public void close() {
    directory().ifPresent(FreshAddress::remove);
  }

  /**
   * Removes a directory and its contents. Files removed concurrently by another process are not a
   * failure.
   *
   * @param directory the directory
   */
  public static void remove(Path directory) {
    try {
      delete(directory);
    } catch (IOException e) {
      throw new ToolException(
          ExitCode.FAILED, "cannot remove " + directory + ": " + e.getMessage(), e);
    }
  }

  private static void delete(Path path) throws IOException {
    if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      try (DirectoryStream<Path> files = Files.newDirectoryStream(path)) {
        for (Path file : files) {
          delete(file);
        }
      } catch (NoSuchFileException e) {
        return;
      }
    }
    Files.deleteIfExists(path);
  }
}
