// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.queue;

import dev.ferrule.AddressInUseException;
import dev.ferrule.Availability;
import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.InvalidAddressException;
import dev.ferrule.Listener;
import dev.ferrule.Option;
import dev.ferrule.StandardOptions;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.spi.ResolvedOptions;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Connects two ends in one process. An address is a name, as in {@code queue://name}. */
public final class QueueProvider implements ConnectionProvider {

  private static final Map<URI, QueueListener> LISTENERS = new ConcurrentHashMap<>();

  /** Called by {@link java.util.ServiceLoader}. */
  public QueueProvider() {}

  @Override
  public String scheme() {
    return "queue";
  }

  @Override
  public String description() {
    return "messages between two ends in one process, through queues in memory";
  }

  @Override
  public String exampleAddress() {
    return "queue://name";
  }

  @Override
  public Availability availability() {
    return new Availability.Available();
  }

  @Override
  public List<Option<?>> options() {
    List<Option<?>> result = new ArrayList<>(StandardOptions.all());
    result.set(
        result.indexOf(StandardOptions.MAX_MESSAGE),
        StandardOptions.MAX_MESSAGE.withDefault(1L << 20));
    result.set(
        result.indexOf(StandardOptions.PEER_TIMEOUT),
        StandardOptions.PEER_TIMEOUT.withDefault(Duration.ZERO));
    return result;
  }

  @Override
  public Connection connect(URI address, ConnectionOptions options) {
    ResolvedOptions resolved = ResolvedOptions.of(options, address, options());
    URI uri = withoutOptions(address);
    QueueListener.checkPayload(uri, resolved.payload());
    QueueListener listener = LISTENERS.get(uri);
    if (listener == null) {
      throw new ConnectionRefusedException(
          uri, "connection refused: no listener in this process (start one first)", null);
    }
    return listener.connect(resolved);
  }

  @Override
  public Listener listen(URI address, ConnectionOptions options) {
    ResolvedOptions resolved = ResolvedOptions.of(options, address, options());
    URI uri = withoutOptions(address);
    QueueListener listener = new QueueListener(uri, resolved, () -> LISTENERS.remove(uri));
    if (LISTENERS.putIfAbsent(uri, listener) != null) {
      throw new AddressInUseException(
          uri,
          "address in use by a listener of this process (close it, or use another name)",
          null);
    }
    return listener;
  }

  private static URI withoutOptions(URI address) {
    if (address.getRawAuthority() == null || !address.getRawPath().isEmpty()) {
      throw new InvalidAddressException(
          address, "malformed address; write one such as queue://name", null);
    }
    return URI.create("queue://" + address.getRawAuthority());
  }
}
