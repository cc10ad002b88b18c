// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.InvalidAddressException;
import dev.ferrule.posix.DatagramSocket;
import dev.ferrule.posix.PosixException;
import dev.ferrule.sm.os.OwnDirectory;
import dev.ferrule.support.Fuzzer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;

/** Addresses as a user may write them, and names that any process may create in a directory. */
class SmAddressFuzzTest {

  /** In memory, if possible: each input creates and removes directories. */
  static final class InMemory implements TempDirFactory {

    private static final Path SHARED_MEMORY = Path.of("/dev/shm");

    @Override
    public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext extension)
        throws IOException {
      return Files.isWritable(SHARED_MEMORY)
          ? Files.createTempDirectory(SHARED_MEMORY, "ferrule-test-")
          : Files.createTempDirectory("ferrule-test-");
    }
  }

  @TempDir(factory = InMemory.class)
  Path directory = Path.of("");

  @Test
  void anAddressIsReadOrItsFaultIsNamed() {
    new Fuzzer("addresses of sm", 5_000)
        .permits(InvalidAddressException.class)
        .addresses(
            List.of(
                "sm:///tmp/app/4567/2",
                "sm:///dev/shm/a%20b?wait=spin",
                "sm:///tmp/app#7",
                "sm:///tmp/app/04567/2",
                "sm:///tmp/app/4567/02"),
            uri -> {
              SmAddress address = SmAddress.parse(uri);
              assertThat(address.base().isAbsolute()).isTrue();
              assertThat(address.base().getNameCount()).isPositive();
              assertThat(address.endpoint() == null ? address.base() : address.directory())
                  .isEqualTo(Path.of(uri.getPath()).normalize());
              assertThat(address.toString().length()).isLessThan(2 * DatagramSocket.MAX_PATH);
              assertThat(SmAddress.parse(address.uri())).isEqualTo(address);
              assertThat(address.connectionUri(1).getFragment()).isEqualTo("1");
              boolean ignored = SmAddress.isNearlyEndpoint(address.base());
              return true;
            });
  }

  /** The lock file of an endpoint contains the rest of the input. */
  @Test
  void everyNameInADirectoryIsAnEndpointsOrIgnored() {
    SmAddress address = new SmAddress(directory, null);
    new Fuzzer("names in a directory of sm", 1_000)
        .allocates(512 << 10) // of each directory that is read
        .text(
            List.of(
                "4567/2/listener 17",
                "1/65535/client",
                "999999999/1/listener",
                "04567/2/listener 17",
                "4567/02/client"),
            text -> {
              String[] parts = text.split("/", 3);
              Path endpoint = path(parts);
              if (endpoint == null || !create(endpoint)) {
                return false;
              }
              try {
                return isFound(address, endpoint, text);
              } finally {
                Files.deleteIfExists(endpoint.resolve(EndpointFiles.LOCK));
                Files.deleteIfExists(endpoint);
                Files.deleteIfExists(endpoint.getParent());
              }
            });
  }

  private boolean isFound(SmAddress address, Path endpoint, String text) throws IOException {
    Files.write(endpoint.resolve(EndpointFiles.LOCK), text.getBytes(StandardCharsets.UTF_8));
    List<SmAddress> found = EndpointScan.endpoints(address);
    for (SmAddress each : found) {
      assertThat(each.directory()).isEqualTo(endpoint);
      assertThat(EndpointScan.description(each).length()).isLessThan(text.length() + 1);
      assertThat(EndpointScan.connections(each)).isEmpty();
    }
    assertThat(EndpointScan.listeners(address)).isEmpty(); // no process has locked it
    assertThat(EndpointScan.unreadable(address)).isEmpty();
    EndpointScan.sweep(directory);
    assertThat(Files.exists(endpoint)).isEqualTo(found.isEmpty());
    return !found.isEmpty();
  }

  /** Returns the path of two names; null if there is no such path. */
  private @Nullable Path path(String[] parts) {
    if (parts.length < 3 || parts[0].matches("\\.{0,2}") || parts[1].matches("\\.{0,2}")) {
      return null;
    }
    try {
      return directory.resolve(parts[0]).resolve(parts[1]);
    } catch (InvalidPathException e) {
      return null;
    }
  }

  /** Creates a directory and its parent; returns false if the system permits no such name. */
  private static boolean create(Path endpoint) {
    try {
      return OwnDirectory.create(endpoint.getParent(), false)
          && OwnDirectory.create(endpoint, false);
    } catch (PosixException e) {
      // otherwise each later input would have to read it as well
      boolean ignored = OwnDirectory.removeIfEmpty(endpoint.getParent());
      return false;
    }
  }
}
