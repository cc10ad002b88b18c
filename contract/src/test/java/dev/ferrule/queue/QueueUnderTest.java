// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.queue;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.StandardOptions;
import dev.ferrule.contract.ProviderUnderTest;
import java.net.URI;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/** The adapter of queue for the contract tests. It has no files, and no mappings of its own. */
final class QueueUnderTest implements ProviderUnderTest {

  private static final AtomicInteger ADDRESSES = new AtomicInteger();

  @Override
  public URI listenAddress() {
    return URI.create("queue://test-" + ADDRESSES.incrementAndGet());
  }

  @Override
  public ConnectionOptions options() {
    return ConnectionOptions.builder().set(StandardOptions.MAX_MESSAGE, 16L * 1024).build();
  }

  @Override
  public List<String> mappings() {
    return List.of();
  }

  @Override
  public List<String> leftOverFiles() {
    return List.of();
  }

  @Override
  public Set<String> notCounted() {
    return Set.of("retransmissions", "wakeupsSent");
  }

  @Override
  public void close() {}
}
