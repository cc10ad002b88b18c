// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.transport;

import java.nio.file.Path;
import java.util.function.Supplier;

/**
 * The server's side of a transport with files in a directory, which its creator removes, and which
 * is not notified of clients.
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
