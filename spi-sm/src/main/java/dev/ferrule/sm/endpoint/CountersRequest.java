// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.posix.Fifo;
import dev.ferrule.posix.Posix;
import dev.ferrule.posix.PosixException;
import dev.ferrule.spi.ConnectionSample;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A tool's request to an endpoint to write its {@link CountersFile}: a header in its FIFO, which
 * its thread answers. Only a user that may read the answer sends one.
 *
 * @param endpoint the endpoint's directory
 * @param before when the file that was there before was written
 */
record CountersRequest(Path endpoint, Optional<Long> before) {

  private static final int ROOT = 0;

  /** Sends a request; empty if the endpoint is not live, or is another user's. */
  static Optional<CountersRequest> send(SmAddress endpoint) {
    int user = Posix.geteuid();
    Path directory = endpoint.directory();
    if (EndpointScan.owner(endpoint).filter(owner -> user == ROOT || owner == user).isEmpty()) {
      return Optional.empty();
    }
    Optional<Long> before = CountersFile.time(directory);
    try (Fifo.Writer fifo = EndpointFiles.openFifo(directory);
        Arena arena = Arena.ofConfined()) {
      Fifo.Writer.Result result =
          fifo.write(
              arena.allocateFrom(ValueLayout.JAVA_INT, FifoHeader.of(FifoHeader.COUNTERS, 0)));
      return result == Fifo.Writer.Result.WRITTEN
          ? Optional.of(new CountersRequest(directory, before))
          : Optional.empty();
    } catch (PosixException e) { // its process has ended
      return Optional.empty();
    }
  }

  /** Returns the answer; empty if there is none yet. */
  Optional<List<ConnectionSample>> answer() {
    return CountersFile.time(endpoint)
        .filter(time -> !before.equals(Optional.of(time)))
        .flatMap(time -> CountersFile.read(endpoint))
        .map(CountersFile::samples);
  }
}
