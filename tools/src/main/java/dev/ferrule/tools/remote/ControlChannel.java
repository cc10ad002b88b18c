// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.remote;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * The control connection between an evaluation and the host of its servers: JSON objects over TCP,
 * each on a line of its own. The other side is not trusted, so that lines are limited in length.
 *
 * <p><b>Threads:</b> any thread may send; one at a time may receive.
 */
final class ControlChannel implements AutoCloseable {

  /** The longest line in bytes; the facts of a machine are the longest message. */
  static final int LONGEST = 64 << 10;

  private static final Gson GSON = new Gson();

  private final Socket socket;
  private final InputStream input;
  private final OutputStream output; // guarded by itself

  ControlChannel(Socket socket) throws IOException {
    this.socket = socket;
    socket.setTcpNoDelay(true);
    this.input = new BufferedInputStream(socket.getInputStream());
    this.output = socket.getOutputStream();
  }

  /** Sets the time after which a side that sends nothing is lost. */
  void setPatience(long millis) throws IOException {
    socket.setSoTimeout((int) millis);
  }

  void send(JsonObject message) throws IOException {
    byte[] line = (message + "\n").getBytes(StandardCharsets.UTF_8);
    synchronized (output) {
      output.write(line);
      output.flush();
    }
  }

  /**
   * Waits for the next message.
   *
   * @throws EOFException if the other side has ended
   * @throws IOException if the connection is lost, or the line is not a message
   */
  JsonObject receive() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int next = input.read(); next != '\n'; next = input.read()) {
      if (next < 0) {
        throw new EOFException("the other side has ended");
      }
      if (line.size() == LONGEST) {
        throw new IOException("a line of more than " + LONGEST + " bytes");
      }
      line.write(next);
    }
    JsonObject message;
    try {
      message = GSON.fromJson(line.toString(StandardCharsets.UTF_8), JsonObject.class);
    } catch (JsonParseException e) {
      throw new IOException("a line that is not a message of an evaluation", e);
    }
    if (message == null) {
      throw new IOException("an empty line");
    }
    return message;
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      // it is of no further use
    }
  }
}
