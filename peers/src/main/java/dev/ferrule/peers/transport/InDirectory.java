// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers.transport;

import java.nio.file.Path;
import java.util.function.Supplier;

/**
 * The server's side of a contender that has its files in a directory and never learns of clients.
 *
 * @param directory where the files are
 * @param end makes the server's end
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

  @Override
  public void close() {
    // whoever made the directory removes it
  }
}
