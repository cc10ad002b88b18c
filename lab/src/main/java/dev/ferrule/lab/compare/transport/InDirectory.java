// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.transport;

import java.nio.file.Path;
import java.util.function.Supplier;

/**
 * The server's side of a transport whose files are in a directory. The directory's creator removes
 * it. {@link #accept} returns immediately, as this side is not notified of clients.
 */
record InDirectory(Path directory, Supplier<Transport> end) implements Listening {

  @Override
  public String address() {
    return directory.toString();
  }

  @Override
  public Transport accept() {
    return end.get();
  }
}
