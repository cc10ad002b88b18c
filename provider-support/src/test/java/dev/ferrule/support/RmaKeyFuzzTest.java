// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.RemoteAccessException;
import dev.ferrule.RmaHandle;
import dev.ferrule.RmaRight;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Handles of exposed memory, as the peer's program may pass them. */
class RmaKeyFuzzTest {

  @Test
  void aHandleIsReadIfItIsWhatAKeyEncodes() {
    new Fuzzer("handles of exposed memory", 20_000)
        .permits(RemoteAccessException.class) // of a length that no handle has
        .bytes(
            List.of(
                new RmaKey(3, 17, 4096, EnumSet.allOf(RmaRight.class), 0).encode().toBytes(),
                new RmaKey(255, -1, Long.MAX_VALUE, EnumSet.of(RmaRight.READ), -5)
                    .encode()
                    .toBytes()),
            bytes -> {
              RmaHandle handle = RmaHandle.of(bytes);
              Optional<RmaKey> key = RmaKey.decode(handle);
              key.ifPresent(decoded -> {
                assertThat(decoded.id()).isNotNegative();
                assertThat(decoded.length()).isNotNegative();
                assertThat(decoded.rights()).isNotEmpty();
                assertThat(decoded.encode()).isEqualTo(handle);
              });
              return key.isPresent();
            });
  }
}
