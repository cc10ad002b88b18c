// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.rdma.fake.ScriptedDevice;
import dev.ferrule.verbs.AccessFlags;
import dev.ferrule.verbs.FakeDevice;
import dev.ferrule.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** Tests which users share a region, and how long it is registered. */
class RegistrationCacheTest {

  private final ScriptedDevice device = new ScriptedDevice();
  private final RegistrationCache cache = new RegistrationCache(device.domain());
  private final MemorySegment memory = Arena.ofAuto().allocate(1000);

  @Test
  void theSameMemoryIsRegisteredOnceAndUntilItsLastUserReleasesIt() {
    RegistrationCache.Region region = cache.acquire(memory);
    assertThat(cache.acquire(memory.asSlice(0))).isSameAs(region);
    assertThat(region.localKey()).isEqualTo(ScriptedDevice.LOCAL_KEY);
    assertThat(device.registrations).hasValue(1);

    cache.release(region);
    assertThat(device.registrations).hasValue(1);
    cache.release(region);
    assertThat(device.registrations).hasValue(0);

    assertThat(cache.acquire(memory)).isNotSameAs(region);
    assertThat(device.registrations).hasValue(1);
  }

  @Test
  void otherMemoryHasARegionOfItsOwn() {
    RegistrationCache.Region region = cache.acquire(memory);
    assertThat(device.lastAccess).isEqualTo(AccessFlags.LOCAL_WRITE);

    assertThat(cache.acquire(memory.asSlice(0, 999))).isNotSameAs(region);
    assertThat(cache.acquire(memory.asSlice(1))).isNotSameAs(region);
    assertThat(cache.acquire(Arena.ofAuto().allocate(1000))).isNotSameAs(region);
    assertThat(cache.acquire(memory.asReadOnly())).isNotSameAs(region);

    assertThat(device.lastAccess).isZero();
    assertThat(device.registrations).hasValue(5);
  }

  @Test
  void laterMemoryAtTheAddressOfFreedMemoryHasARegionOfItsOwn() {
    long address = memory.address();
    RegistrationCache.Region stale;
    try (Arena freed = Arena.ofShared()) {
      stale = cache.acquire(MemorySegment.ofAddress(address).reinterpret(100, freed, null));
    }

    try (Arena arena = Arena.ofShared()) {
      MemorySegment later = MemorySegment.ofAddress(address).reinterpret(100, arena, null);
      assertThat(cache.acquire(later)).isNotSameAs(stale);
      assertThat(cache.acquire(later.asSlice(0))).isNotSameAs(stale);
    }
    assertThat(device.registrations).hasValue(2);
    cache.release(stale);
    assertThat(device.registrations).hasValue(1);
  }

  @Test
  void aRegistrationThatFailsLeavesNothingAndCanBeRepeated() {
    FakeDevice failing = new FakeDevice();
    failing.errno = 12;
    RegistrationCache ofFailing = new RegistrationCache(failing.domain());
    assertThatThrownBy(() -> ofFailing.acquire(memory)).isInstanceOf(VerbsException.class);

    failing.errno = 0;
    failing.registrations();

    assertThat(ofFailing.acquire(memory).localKey()).isEqualTo(5);
  }
}
