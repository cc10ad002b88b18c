// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Listener;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.RemoteMemory;
import dev.ferrule.Rma;
import dev.ferrule.RmaRight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * Operations by fragments, which are asynchronous, beside copies of mapped memory, which are not.
 */
class MixedOperationsTest {

  private final SmProvider provider = new SmProvider(() -> null);

  private void run(boolean closes) {
    ConnectionOptions options = ConnectionOptions.builder().set("rma", "mmap").build();
    SmUnderTest addresses = new SmUnderTest();
    try (addresses;
        Arena arena = Arena.ofShared();
        Listener listener = provider.listen(addresses.listenAddress(), options)) {
      CompletableFuture<Connection> connecting =
          CompletableFuture.supplyAsync(() -> provider.connect(listener.uri(), options));
      try (Connection server = listener.accept();
          Connection client = connecting.join()) {
        MemorySegment source = arena.allocate(4096).fill((byte) 7);
        MemorySegment into = arena.allocate(4096);
        MemorySegment other = arena.allocate(4096);
        Rma rma = client.rma();
        RemoteMemory far = rma.attach(server.rma().expose(source, RmaRight.READ).handle());
        RemoteMemory near = rma.attach(server.rma().allocate(4096, RmaRight.READ).handle());
        RegisteredMemory local = client.register(into);
        RegisteredMemory local2 = client.register(other);
        long first = rma.read(local, 0, far, 0, 2048);
        rma.read(local2, 0, near, 0, 1);
        if (closes) {
          local.close();
          byte before = into.get(ValueLayout.JAVA_BYTE, 0);
          long third = rma.read(local2, 0, far, 0, 2048);
          rma.await(third);
          assertThat(into.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo(before);
        } else {
          rma.await(first);
          assertThat(into.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 7);
        }
      }
    }
  }

  @Test
  void aReadThatWasAwaitedHasItsBytesWhateverFollowedIt() {
    run(false);
  }

  @Test
  void memoryWhoseRegistrationIsClosedIsNotWrittenAnyMore() {
    run(true);
  }
}
