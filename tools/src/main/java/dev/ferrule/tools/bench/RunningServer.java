// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.net.URI;

/** A server to measure against, until closed. */
public interface RunningServer extends AutoCloseable {

  /** {@return the URI of the server's listener} */
  URI uri();

  @Override
  void close();
}
