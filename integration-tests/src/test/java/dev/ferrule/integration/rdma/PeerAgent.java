// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/**
 * Starts processes on the second host, for tests on the first: one for each TCP connection, whose
 * first line has the main class and its arguments. The process's output is sent back. It is killed
 * when the TCP connection ends.
 */
public final class PeerAgent {

  /** The agent's port. */
  static final int PORT = 18_600;

  private PeerAgent() {}

  /**
   * Serves until it is killed.
   *
   * @param arguments unused
   * @throws IOException if the port is in use
   */
  public static void main(String[] arguments) throws IOException {
    try (ServerSocket server =
        new ServerSocket(PORT, 16, InetAddress.getByName(System.getenv("FERRULE_RXE_ADDRESS")))) {
      while (true) {
        Socket client = server.accept();
        Thread.ofPlatform().daemon().start(() -> serve(client));
      }
    }
  }

  private static void serve(Socket client) {
    try (client) {
      String first = line(client);
      List<String> words = List.of(first.split(" "));
      Process process = OtherProcess.builder(words.get(0), words.subList(1, words.size())).start();
      try {
        Thread.ofPlatform()
            .daemon()
            .start(() -> {
              try (OutputStream output = client.getOutputStream()) {
                process.getInputStream().transferTo(output);
              } catch (IOException e) {
                process.destroyForcibly(); // no reader is left
              }
            });
        while (client.getInputStream().read() >= 0) {
          // waits for the end of the connection
        }
      } finally {
        process.destroyForcibly();
      }
    } catch (IOException e) {
      System.err.println("agent: " + e);
    }
  }

  /** Reads a line, without buffering what follows it. */
  private static String line(Socket client) throws IOException {
    StringBuilder result = new StringBuilder();
    int next = client.getInputStream().read();
    while (next >= 0 && next != '\n') {
      result.append((char) next);
      next = client.getInputStream().read();
    }
    return result.toString();
  }

  /** A process on the other host, as seen by a test. */
  static final class RemoteProcess implements AutoCloseable {

    private final Socket socket;

    private RemoteProcess(Socket socket) {
      this.socket = socket;
    }

    /** Starts a {@link Peer}. */
    static RemoteProcess start(String... arguments) throws IOException {
      return start(Peer.class, arguments);
    }

    /** Starts a process, waiting until the agent is available. */
    static RemoteProcess start(Class<?> main, String... arguments) throws IOException {
      String host = System.getenv("FERRULE_RXE_PEER");
      long deadline = System.nanoTime() + Task.PATIENCE.toNanos(); // the other host may still boot
      while (true) {
        Socket socket = new Socket();
        try {
          socket.connect(new InetSocketAddress(host, PORT), 10_000);
          socket.setSoTimeout((int) Task.PATIENCE.toMillis());
          socket
              .getOutputStream()
              .write(
                  (main.getName() + " " + String.join(" ", arguments) + "\n")
                      .getBytes(StandardCharsets.UTF_8));
          return new RemoteProcess(socket);
        } catch (IOException e) {
          socket.close();
          if (System.nanoTime() - deadline > 0) {
            throw e;
          }
          Task.pause(Duration.ofMillis(500));
        }
      }
    }

    String line() throws IOException {
      String result = PeerAgent.line(socket);
      if (result.isEmpty()) {
        throw new AssertionError("the other host's process has ended");
      }
      return result;
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
