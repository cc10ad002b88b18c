// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.remote;

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
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The control connection between an evaluation and the host of its servers: JSON objects over TCP,
 * each on a line of its own. The other side is not trusted, so that lines are limited in length,
 * and both directions in time.
 *
 * <p><b>Threads:</b> any thread may send; one at a time may receive.
 */
final class ControlChannel implements AutoCloseable {

  /** The longest line in bytes; the facts of a machine are the longest message. */
  static final int LONGEST = 64 << 10;

  /** The longest text from elsewhere in a message, in characters. */
  private static final int LONGEST_TEXT = 4 << 10;

  private static final Gson GSON = new Gson();

  /** Closes the sockets of writes that last too long, as a write has no time limit of its own. */
  private static final ScheduledThreadPoolExecutor LIMITER = limiter();

  private final Socket socket;
  private final InputStream input;
  private final OutputStream output; // guarded by itself
  private volatile long patienceMillis;

  ControlChannel(Socket socket, Duration patience) throws IOException {
    this.socket = socket;
    this.patienceMillis = patience.toMillis();
    socket.setTcpNoDelay(true);
    this.input = new BufferedInputStream(socket.getInputStream());
    this.output = socket.getOutputStream();
  }

  private static ScheduledThreadPoolExecutor limiter() {
    ScheduledThreadPoolExecutor result =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("ferrule-evaluation-limit").factory());
    result.setRemoveOnCancelPolicy(true);
    return result;
  }

  /** Sets the time within which the other side has to send, or to read, a whole message. */
  void setPatience(Duration patience) {
    patienceMillis = patience.toMillis();
  }

  /** Returns a text, shortened if it would make a message too long. */
  static String shortened(String text) {
    return text.length() <= LONGEST_TEXT ? text : text.substring(0, LONGEST_TEXT) + "…";
  }

  /** Sends a message. Closes the connection if the other side does not read it in time. */
  void send(JsonObject message) throws IOException {
    byte[] line = (message + "\n").getBytes(StandardCharsets.UTF_8);
    synchronized (output) {
      long limit = patienceMillis;
      AtomicBoolean late = new AtomicBoolean();
      Future<?> closing = LIMITER.schedule(() -> end(late), limit, TimeUnit.MILLISECONDS);
      try {
        output.write(line);
        output.flush();
      } catch (IOException e) {
        throw late.get() ? timedOut(limit, e) : e;
      } finally {
        closing.cancel(false);
      }
    }
  }

  private void end(AtomicBoolean late) {
    late.set(true); // before the write fails
    close();
  }

  private static SocketTimeoutException timedOut(long limit, IOException cause) {
    SocketTimeoutException result =
        new SocketTimeoutException(
            "no message was sent in " + limit + " ms: the other side does not read");
    result.initCause(cause);
    return result;
  }

  /**
   * Waits for the next message. An {@link EOFException} means that the other side has closed the
   * connection, any other {@link IOException} that the connection is lost, or that the line is not
   * a message.
   */
  JsonObject receive() throws IOException {
    return receive(LONGEST);
  }

  /** Waits for the next message, which has at most {@code longest} bytes. */
  JsonObject receive(int longest) throws IOException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(patienceMillis);
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int next = read(deadline); next != '\n'; next = read(deadline)) {
      if (next < 0) {
        throw new EOFException("the other side has closed the connection");
      }
      if (line.size() == longest) {
        throw new IOException("a line of more than " + longest + " bytes");
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

  /** Reads a byte before the deadline of the whole message. */
  private int read(long deadline) throws IOException {
    try {
      long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      if (left > 0) {
        socket.setSoTimeout((int) left);
        return input.read();
      }
    } catch (SocketTimeoutException e) {
      // reported below
    }
    throw new SocketTimeoutException("no whole message in " + patienceMillis + " ms");
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
