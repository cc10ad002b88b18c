// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.ferrule.Availability;
import dev.ferrule.posix.Errno;
import dev.ferrule.verbs.DeviceFiles;
import dev.ferrule.verbs.FakeDevice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RdmaAvailabilityTest {

  @TempDir Path folder;

  private final FakeDevice device = new FakeDevice();

  @Test
  void rdmaIsAvailableIfOneOfTheDevicesCanBeOpened() {
    device.list("mlx5_0", "rxe0");
    when(device.verbs.openDevice(1)).thenReturn((long) -Errno.EIO);
    when(device.verbs.openDevice(2)).thenReturn(device.contextAddress());

    assertThat(RdmaAvailability.ofDevices(device.library, files(false)).available()).isTrue();

    verify(device.verbs).closeDevice(device.contextAddress());
  }

  @Test
  void rdmaIsUnavailableWithoutPermissionForADevice() {
    device.list("rxe0");
    when(device.verbs.openDevice(1)).thenReturn((long) -Errno.EACCES);

    Availability availability = RdmaAvailability.ofDevices(device.library, files(false));

    assertThat(availability.available()).isFalse();
    assertThat(availability.toString()).contains("no permission for ", "uverbs0", "chmod a+rw ");
  }

  @Test
  void rdmaIsUnavailableIfNoDeviceCanBeOpenedForAnotherReason() {
    device.list("rxe0");
    when(device.verbs.openDevice(1)).thenReturn((long) -Errno.EIO);

    assertThat(RdmaAvailability.ofDevices(device.library, files(true)).toString())
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
}
