// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionCounters;
import dev.ferrule.ConnectionState;
import dev.ferrule.FerruleException;
import dev.ferrule.Receiver;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.Rma;
import dev.ferrule.Sender;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A connection of which only the address is used. Unlike a mock, it adds no steps to the
 * interleavings.
 */
final class UnusedConnection implements Connection {

  static final URI URI = java.net.URI.create("sm:///test");

  @Override
  public URI uri() {
    return URI;
  }

  @Override
  public Sender sender() {
    throw new UnsupportedOperationException();
  }

  @Override
  public Receiver receiver() {
    throw new UnsupportedOperationException();
  }

  @Override
  public Rma rma() {
    throw new UnsupportedOperationException();
  }

  @Override
  public byte[] peerPayload() {
    throw new UnsupportedOperationException();
  }

  @Override
  public RegisteredMemory register(MemorySegment segment) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ConnectionState state() {
    throw new UnsupportedOperationException();
  }

  @Override
  public @Nullable FerruleException failure() {
    throw new UnsupportedOperationException();
  }

  @Override
  public void onClose(Consumer<Connection> action) {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean removeOnClose(Consumer<Connection> action) {
    throw new UnsupportedOperationException();
  }

  @Override
  public CompletionStage<ConnectionState> closed() {
    throw new UnsupportedOperationException();
  }

  @Override
  public ConnectionCounters counters() {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close(Duration timeout) {
    throw new UnsupportedOperationException();
  }
}
