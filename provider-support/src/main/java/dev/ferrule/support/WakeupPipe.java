// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channel;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;

/**
 * A pipe that contains one byte while it is to be readable. A Selector accepts only channels of the
 * JDK, so an eventfd(2) does not suffice.
 *
 * <p><b>Threads:</b> one at a time. Both ends are non-blocking, so that an interrupt of the thread
 * does not close them.
 */
final class WakeupPipe implements AutoCloseable {

  private final Pipe pipe;
  private final ByteBuffer one = ByteBuffer.allocateDirect(1);

  WakeupPipe() throws IOException {
    pipe = Pipe.open();
    boolean done = false;
    try {
      pipe.sink().configureBlocking(false);
      pipe.source().configureBlocking(false);
      done = true;
    } finally {
      if (!done) {
        close();
      }
    }
  }

  /** Returns the end to wait for. */
  SelectableChannel channel() {
    return pipe.source();
  }

  /**
   * As {@link ReadinessDescriptor.Event#setReadable}; does nothing if the program has closed it.
   */
  void setReadable(boolean value) {
    one.clear();
    try {
      int ignored = value ? pipe.sink().write(one) : pipe.source().read(one);
    } catch (IOException e) {
      return; // the program has closed the channel
    }
  }

  @Override
  public void close() {
    close(pipe.sink());
    close(pipe.source());
  }

  private static void close(Channel end) {
    try {
      end.close();
    } catch (IOException e) {
      return; // its descriptor is released all the same
    }
  }
}
