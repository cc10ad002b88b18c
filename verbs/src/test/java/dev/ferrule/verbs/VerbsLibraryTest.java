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

import dev.ferrule.Availability;
import dev.ferrule.bindings.verbs.ibv_context;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mockito.InOrder;

class VerbsLibraryTest {

  @TempDir Path folder;

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
  void aListThatCannotBeHadIsAnException() {
    device.errno = Errno.ENOMEM;
    assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(device.library::deviceNames)
        .withMessageStartingWith("ibv_get_device_list: Cannot allocate memory (errno 12)");
  }

  @Test
  void aDeviceIsOpenedByItsNameWhileTheListIsThere() {
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
  void anUnknownDeviceIsNoDevice() {
    device.list("mlx5_0");
    assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(() -> device.library.open("rxe0"))
        .withMessageStartingWith("ibv_open_device(rxe0): No such device (errno 19); ")
        .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ENODEV));
    verify(device.verbs, never()).openDevice(anyLong());
  }

  @Test
  void aDeviceThatCannotBeOpenedDoesNotKeepTheList() {
    device.list("rxe0");
    when(device.verbs.openDevice(1)).thenReturn((long) -Errno.EACCES);
    assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(() -> device.library.open("rxe0"))
        .withMessageStartingWith("ibv_open_device(rxe0): Permission denied (errno 13); ")
        .withMessageContaining("/dev/infiniband/uverbs");
    verify(device.verbs).freeDeviceList(anyLong());
  }

  @Test
  void rdmaWorksWhereOneOfTheDevicesCanBeOpened() {
    device.list("mlx5_0", "rxe0");
    when(device.verbs.openDevice(1)).thenReturn((long) -Errno.EIO);
    when(device.verbs.openDevice(2)).thenReturn(device.contextAddress());

    assertThat(device.library.deviceAvailability(files(false)).available()).isTrue();

    verify(device.verbs).closeDevice(device.contextAddress());
  }

  @Test
  void rdmaDoesNotWorkWhereNoDeviceMayBeOpened() {
    device.list("rxe0");
    when(device.verbs.openDevice(1)).thenReturn((long) -Errno.EACCES);

    Availability availability = device.library.deviceAvailability(files(false));

    assertThat(availability.available()).isFalse();
    assertThat(availability.toString()).contains("no permission for ", "uverbs0", "chmod a+rw ");
  }

  @Test
  void rdmaDoesNotWorkWhereNoDeviceCanBeOpenedForAnotherReason() {
    device.list("rxe0");
    when(device.verbs.openDevice(1)).thenReturn((long) -Errno.EIO);

    assertThat(device.library.deviceAvailability(files(true)).toString())
        .contains("ibv_open_device(rxe0)");
  }

  private DeviceFiles files(boolean permitted) {
    try {
      Files.createFile(folder.resolve("uverbs0"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new DeviceFiles(folder, file -> permitted);
  }

  @Test
  void aContextOfTheConnectionManagerStaysOpen() {
    device.library.context(device.contextAddress()).close();
    verify(device.verbs, never()).closeDevice(anyLong());
  }

  @Test
  void theDeviceOfAContextIsAskedForItsName() {
    ibv_context.device(device.contextMemory(), MemorySegment.ofAddress(9));
    when(device.verbs.getDeviceName(9)).thenReturn("rxe0");
    assertThat(device.context().deviceName()).isEqualTo("rxe0");
    assertThat(device.context().asyncDescriptor()).isEqualTo(33);
    verify(device.verbs, never()).queryDevice(anyLong(), any());
  }
}
