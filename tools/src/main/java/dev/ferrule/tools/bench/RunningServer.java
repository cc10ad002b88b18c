// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import java.net.URI;

/** A running server to measure against. Closing this object ends the server. */
public interface RunningServer extends AutoCloseable {

  /** {@return the URI of the server's listener} */
  URI uri();

  @Override
  void close();
}
