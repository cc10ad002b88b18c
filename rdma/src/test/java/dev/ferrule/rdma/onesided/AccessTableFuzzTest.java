// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.onesided;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.RmaHandle;
import dev.ferrule.RmaRight;
import dev.ferrule.rdma.fake.ScriptedDevice;
import dev.ferrule.support.Fuzzer;
import dev.ferrule.support.RmaKey;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The table to which the peer's device writes, and the handles of the peer's program. */
class AccessTableFuzzTest {

  private static final int HANDLE = RmaHandle.MAX_BYTES;

  /** Each input is a handle, followed by entries of the table, beginning with the handle's own. */
  @Test
  void memoryIsFoundIfItsEntryAgreesWithTheHandle() {
    ScriptedDevice device = new ScriptedDevice();
    try (AccessTable table = new AccessTable(device.domain(), device.arena())) {
      RmaKey key = new RmaKey(3, 17, 4096, EnumSet.allOf(RmaRight.class), 99);
      MemorySegment entry =
          table.memory().asSlice(AccessTableLayout.entry(3), AccessTableLayout.ENTRY_SIZE);
      entry.set(ValueLayout.JAVA_LONG, AccessTableLayout.ENTRY_GENERATION, 17);
      entry.set(ValueLayout.JAVA_LONG, AccessTableLayout.ENTRY_LENGTH, 4096);
      entry.set(ValueLayout.JAVA_INT, AccessTableLayout.ENTRY_KEY, 99);
      entry.set(ValueLayout.JAVA_INT, AccessTableLayout.ENTRY_RIGHTS, RmaKey.bits(key.rights()));
      byte[] valid = Arrays.copyOf(key.encode().toBytes(), HANDLE + AccessTableLayout.ENTRY_SIZE);
      MemorySegment.ofArray(valid).asSlice(HANDLE).copyFrom(entry);
      new Fuzzer("entries of exposed memory of RDMA", 20_000)
          .allocates(8 << 10)
          .bytes(
              List.of(valid),
              bytes -> {
                if (bytes.length < HANDLE) {
                  return false;
                }
                table.memory().fill((byte) 0);
                int length =
                    (int) Math.min(bytes.length - HANDLE, table.memory().byteSize() - 3 * 32);
                table
                    .memory()
                    .asSlice(AccessTableLayout.entry(3), length)
                    .copyFrom(MemorySegment.ofArray(bytes).asSlice(HANDLE, length));
                Optional<RmaKey> decoded =
                    RmaKey.decode(RmaHandle.of(Arrays.copyOf(bytes, HANDLE)));
                PeerMemory found = decoded.map(table::find).orElse(null);
                if (found != null) {
                  assertThat(found.length()).isEqualTo(decoded.get().length());
                  assertThat(table.acquire(decoded.get().id(), decoded.get().generation()))
                      .isTrue();
                  table.release(decoded.get().id());
                }
                return found != null;
              });
    }
  }
}
