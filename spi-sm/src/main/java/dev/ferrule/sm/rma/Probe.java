// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import dev.ferrule.sm.os.Knem;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.SecureRandom;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A word in this process's own memory, by which a peer verifies that it copies from the right
 * process: another process that has the same id in the peer's PID namespace does not contain it.
 */
final class Probe {

  private static final MemorySegment WORD = word();
  private static final Map<Knem, Long> COOKIES = new ConcurrentHashMap<>();

  private Probe() {}

  private static MemorySegment word() {
    MemorySegment word = Arena.global().allocate(ValueLayout.JAVA_LONG);
    word.set(ValueLayout.JAVA_LONG, 0, new SecureRandom().nextLong());
    return word;
  }

  /** Returns KNEM's cookie of the word; one for the lifetime of the process. */
  static long cookie(@Nullable Knem driver) {
    return driver == null
        ? 0
        : COOKIES.computeIfAbsent(
            driver, knem -> KnemRegions.create(knem, address(), WORD.byteSize(), false));
  }

  static long address() {
    return WORD.address();
  }

  static long value() {
    return WORD.get(ValueLayout.JAVA_LONG, 0);
  }
}
