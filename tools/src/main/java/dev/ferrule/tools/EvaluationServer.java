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
   * @param address the address to listen on: an address of an RDMA device
   * @param secret the secret that an evaluation must send
   * @param out receives the address, including a port chosen by the system, once the server listens
   * @param problems receives one line for each client, and the error output of the started servers
   * @throws dev.ferrule.tools.support.ToolException if the address does not belong to this host,
   *     the address is in use, or the secret is too short
   */
  void serve(InetSocketAddress address, String secret, PrintWriter out, Consumer<String> problems);
}
