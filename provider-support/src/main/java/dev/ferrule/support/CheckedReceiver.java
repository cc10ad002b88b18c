// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import dev.ferrule.MessageHandler;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.Receiver;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A receiver that detects concurrent use by two threads. */
final class CheckedReceiver implements Receiver {

  private final Receiver receiver;
  private final SingleThreadedUse use;

  CheckedReceiver(Receiver receiver, SingleThreadedUse use) {
    this.receiver = receiver;
    this.use = use;
  }

  @Override
  public ReceiveRegion receive() {
    use.begin();
    try {
      return receiver.receive();
    } finally {
      use.end();
    }
  }

  @Override
  public ReceiveRegion receive(Duration timeout) {
    use.begin();
    try {
      return receiver.receive(timeout);
    } finally {
      use.end();
    }
  }

  @Override
  public @Nullable ReceiveRegion tryReceive() {
    use.begin();
    try {
      return receiver.tryReceive();
    } finally {
      use.end();
    }
  }

  @Override
  public int poll(MessageHandler handler, int limit) {
    use.begin();
    try {
      return receiver.poll(handler, limit);
    } finally {
      use.end();
    }
  }

  @Override
  public int poll(MessageHandler handler, int limit, Duration timeout) {
    use.begin();
    try {
      return receiver.poll(handler, limit, timeout);
    } finally {
      use.end();
    }
  }

  @Override
  public void idle() {
    use.begin();
    try {
      receiver.idle();
    } finally {
      use.end();
    }
  }

  @Override
  public void free(ReceiveRegion message) {
    use.begin();
    try {
      receiver.free(message);
    } finally {
      use.end();
    }
  }

  @Override
  public String toString() {
    return receiver.toString();
  }
}
