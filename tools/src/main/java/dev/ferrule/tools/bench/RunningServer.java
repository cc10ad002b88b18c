// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.net.URI;

/** A server to measure against, for as long as it is not closed. */
public interface RunningServer extends AutoCloseable {

  /**
   * Returns where the server listens.
   *
   * @return the listener's URI
   */
  URI uri();

  @Override
  void close();
}
