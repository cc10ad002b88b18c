// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.ferrule.posix.Errno;
import dev.ferrule.verbs.libibverbs.ibv_context;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.mockito.InOrder;

class VerbsLibraryTest {

  private final FakeDevice device = new FakeDevice();

  @Test
  void devicesAreListedInTheirOrder() {
    device.list("mlx5_0", "rxe0");
    assertThat(device.library.deviceNames()).containsExactly("mlx5_0", "rxe0");
    verify(device.verbs).freeDeviceList(anyLong());
  }

  @Test
  void aKernelWithoutRdmaHasNoDevices() {
    device.errno = Errno.ENOSYS;
    assertThat(device.library.deviceNames()).isEmpty();
    verify(device.verbs, never()).freeDeviceList(anyLong());
  }

  @Test
  void aFailureToListDevicesIsAnException() {
    device.errno = Errno.ENOMEM;
    assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(device.library::deviceNames)
        .withMessageStartingWith("ibv_get_device_list: Cannot allocate memory (errno 12)");
  }

  @Test
  void aDeviceIsOpenedByItsNameBeforeTheListIsFreed() {
    device.list("mlx5_0", "rxe0");
    when(device.verbs.openDevice(2)).thenReturn(device.contextAddress());
    try (VerbsContext context = device.library.open("rxe0")) {
      assertThat(context.address()).isEqualTo(device.contextAddress());
    }
    InOrder order = inOrder(device.verbs);
    order.verify(device.verbs).openDevice(2);
    order.verify(device.verbs).freeDeviceList(anyLong());
    order.verify(device.verbs).closeDevice(device.contextAddress());
    verify(device.verbs, never()).openDevice(1);
  }

  @Test
  void openingAnUnknownDeviceFails() {
    device.list("mlx5_0");
    assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(() -> device.library.open("rxe0"))
        .withMessageStartingWith("ibv_open_device(rxe0): No such device (errno 19); ")
        .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ENODEV));
    verify(device.verbs, never()).openDevice(anyLong());
  }

  @Test
  void theListIsFreedIfADeviceCannotBeOpened() {
    device.list("rxe0");
    when(device.verbs.openDevice(1)).thenReturn((long) -Errno.EACCES);
    assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(() -> device.library.open("rxe0"))
        .withMessageStartingWith("ibv_open_device(rxe0): Permission denied (errno 13); ")
        .withMessageContaining("/dev/infiniband/uverbs");
    verify(device.verbs).freeDeviceList(anyLong());
  }

  @Test
  void closingAContextOfTheConnectionManagerHasNoEffect() {
    device.library.context(device.contextAddress()).close();
    verify(device.verbs, never()).closeDevice(anyLong());
  }

  @Test
  void aContextHasTheNameOfItsDevice() {
    ibv_context.device(device.contextMemory(), MemorySegment.ofAddress(9));
    when(device.verbs.getDeviceName(9)).thenReturn("rxe0");
    assertThat(device.context().deviceName()).isEqualTo("rxe0");
    assertThat(device.context().asyncDescriptor()).isEqualTo(33);
    verify(device.verbs, never()).queryDevice(anyLong(), any());
  }
}
