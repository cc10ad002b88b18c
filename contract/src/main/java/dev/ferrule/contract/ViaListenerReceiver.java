// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionCounters;
import dev.ferrule.ConnectionState;
import dev.ferrule.FerruleException;
import dev.ferrule.Listener;
import dev.ferrule.Readiness;
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

/** A connection whose messages are received by its listener's single receiver. */
public final class ViaListenerReceiver implements Connection {

  private final Listener listener;
  private final Connection connection;

  /**
   * Creates a view of a connection.
   *
   * @param listener the listener that accepted the connection and receives for all of its
   *     connections
   * @param connection the connection
   */
  public ViaListenerReceiver(Listener listener, Connection connection) {
    this.listener = listener;
    this.connection = connection;
  }

  /** Obtained only when needed, so that messages may have arrived before. */
  @Override
  public Receiver receiver() {
    return listener.receiver();
  }

  @Override
  public Readiness readiness() {
    return listener.readiness();
  }

  @Override
  public URI uri() {
    return connection.uri();
  }

  @Override
  public Sender sender() {
    return connection.sender();
  }

  @Override
  public Rma rma() {
    return connection.rma();
  }

  @Override
  public byte[] peerPayload() {
    return connection.peerPayload();
  }

  @Override
  public RegisteredMemory register(MemorySegment memory) {
    return connection.register(memory);
  }

  @Override
  public ConnectionState state() {
    return connection.state();
  }

  @Override
  public @Nullable FerruleException failure() {
    return connection.failure();
  }

  @Override
  public void onClose(Consumer<Connection> action) {
    connection.onClose(action);
  }

  @Override
  public boolean removeOnClose(Consumer<Connection> action) {
    return connection.removeOnClose(action);
  }

  @Override
  public CompletionStage<ConnectionState> closed() {
    return connection.closed();
  }

  @Override
  public ConnectionCounters counters() {
    return connection.counters();
  }

  @Override
  public void close() {
    connection.close();
  }

  @Override
  public void close(Duration timeout) {
    connection.close(timeout);
  }
}
