// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.containers;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * A stream of a program's commands, for the engine's client. The JDK's pipe would fail when the
 * last writing thread has ended, as a test's does.
 */
final class CommandStream extends InputStream {

  private static final byte[] END = {};

  private final BlockingQueue<byte[]> lines = new LinkedBlockingQueue<>();
  private byte[] current = {};
  private int next;
  private boolean ended;

  void add(String line) {
    lines.add((line + "\n").getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public void close() {
    lines.add(END);
  }

  @Override
  public int read() {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  /** Returns what is available of a line, and blocks only if there is nothing. */
  @Override
  public int read(byte[] into, int offset, int length) {
    while (!ended && next == current.length) {
      try {
        current = lines.take();
        next = 0;
        ended = current.length == 0;
      } catch (InterruptedException e) {
        ended = true;
      }
    }
    if (ended) {
      return -1;
    }
    int count = Math.min(length, current.length - next);
    System.arraycopy(current, next, into, offset, count);
    next += count;
    return count;
  }
}
