// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.tools.Main;
import dev.ferrule.tools.bench.RunningServer;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code ferrule serve} in a thread of this process, since another JVM takes a quarter of a minute
 * in an emulated machine.
 */
final class Serving implements RunningServer {

  /** A JVM starts slowly in an emulated machine. */
  static final String PATIENT = " --option connectTimeout=120s";

  private final Thread thread;
  private final URI uri;

  private Serving(Thread thread, URI uri) {
    this.thread = thread;
    this.uri = uri;
  }

  /** Starts a server on the device, with options of the command in one string. */
  static Serving start(String scheme, String options) {
    return start(scheme, List.of((options + PATIENT).trim().split(" +")));
  }

  /** Starts a server on the device, and waits until it listens. */
  static Serving start(String scheme, List<String> options) {
    List<String> line = new ArrayList<>(List.of("serve"));
    line.addAll(options);
    line.add(scheme + "://" + RdmaDevice.address() + ":0");
    StringWriter output = new StringWriter();
    StringWriter errors = new StringWriter();
    Thread thread =
        Thread.ofPlatform()
            .daemon()
            .start(() ->
                Main.run(
                    new PrintWriter(output),
                    new PrintWriter(errors, true),
                    line.toArray(String[]::new)));
    Task.await(
        () -> "serve listens; " + errors, () -> output.toString().endsWith(System.lineSeparator()));
    return new Serving(thread, URI.create(output.toString().strip()));
  }

  @Override
  public URI uri() {
    return uri;
  }

  @Override
  public void close() {
    thread.interrupt(); // as it waits for the next client
    Task.await("serve ends", () -> !thread.isAlive());
  }
}
