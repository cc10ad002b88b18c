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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Addresses as a user may write them, and names that any process may create in a directory. */
class SmAddressFuzzTest {

  @TempDir Path directory = Path.of("");

  @Test
  void anAddressIsReadOrItsFaultIsNamed() {
    new Fuzzer("addresses of sm", 5_000)
        .permits(InvalidAddressException.class)
        .addresses(
            List.of("sm:///tmp/app/4567/2", "sm:///dev/shm/a%20b?wait=spin", "sm:///tmp/app#7"),
            uri -> {
              SmAddress address = SmAddress.parse(uri);
              assertThat(address.base().isAbsolute()).isTrue();
              assertThat(address.base().getNameCount()).isPositive();
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
    new Fuzzer("names in a directory of sm", 200)
        .permits(IOException.class)
        .allocates(512 << 10) // of each directory that is read
        .text(
            List.of("4567/2/listener 17", "1/65535/client", "999999999/1/listener"),
            text -> {
              String[] parts = text.split("/", 3);
              Path endpoint = create(parts);
              if (endpoint == null) {
                return false;
              }
              Path lock = endpoint.resolve(EndpointFiles.LOCK);
              try {
                Files.write(lock, text.getBytes(StandardCharsets.UTF_8));
                List<SmAddress> found = EndpointScan.endpoints(address);
                for (SmAddress each : found) {
                  assertThat(each.directory()).isDirectory();
                  assertThat(EndpointScan.description(each).length()).isLessThan(text.length() + 1);
                  assertThat(EndpointScan.connections(each)).isEmpty();
                }
                assertThat(EndpointScan.listeners(address)).isEmpty(); // no process has locked it
                assertThat(EndpointScan.unreadable(address)).isEmpty();
                EndpointScan.sweep(directory);
                return !found.isEmpty();
              } finally {
                Files.deleteIfExists(lock);
                Files.deleteIfExists(endpoint);
                Files.deleteIfExists(directory.resolve(parts[0]));
              }
            });
  }

  /** Creates a directory of two names; null if the system permits no such name. */
  private Path create(String[] parts) {
    if (parts.length < 3 || parts[0].matches("\\.{0,2}") || parts[1].matches("\\.{0,2}")) {
      return null;
    }
    try {
      Path parent = directory.resolve(parts[0]);
      Path endpoint = parent.resolve(parts[1]);
      return OwnDirectory.create(parent, false) && OwnDirectory.create(endpoint, false)
          ? endpoint
          : null;
    } catch (PosixException | InvalidPathException e) {
      return null;
    }
  }
}
