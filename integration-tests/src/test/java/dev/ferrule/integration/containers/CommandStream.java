// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.containers;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The commands to a program, as a stream that the engine's client reads. A pipe of the JDK would
 * fail after the last thread that has written to it has ended, as the thread of a test does.
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

  /** Returns bytes of the current line, or waits for the next one. */
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
