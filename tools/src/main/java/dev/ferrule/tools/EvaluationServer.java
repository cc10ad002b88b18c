// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.function.Consumer;

/**
 * Starts servers for evaluations on other hosts. {@code ferrule serve --for-evaluation} uses the
 * implementation that {@link java.util.ServiceLoader} finds.
 */
public interface EvaluationServer {

  /**
   * Serves evaluations, one at a time, until a signal ends the process.
   *
   * @param address the address to listen on, that of an RDMA device
   * @param secret the secret that an evaluation must know
   * @param out receives the address, with any part chosen by the system, once this listens
   * @param problems receives one line about each client, and the servers' error output
   * @throws dev.ferrule.tools.support.ToolException if it is not an address of this host, or in
   *     use, or the secret is too short
   */
  void serve(InetSocketAddress address, String secret, PrintWriter out, Consumer<String> problems);
}
