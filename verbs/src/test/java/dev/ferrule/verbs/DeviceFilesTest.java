// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.posix.Errno;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeviceFilesTest {

  @TempDir Path folder;

  private Path file(String name) throws IOException {
    return Files.createFile(folder.resolve(name));
  }

  @Test
  void shouldFindTheFirstDeviceFileWithoutPermission() throws IOException {
    file("uverbs1");
    Path first = file("uverbs0");
    file("rdma_cm");

    assertThat(new DeviceFiles(folder, file -> file.endsWith("rdma_cm")).forbidden())
        .contains(first);
  }

  @Test
  void shouldFindNoProblemIfOneDeviceMayBeOpened() throws IOException {
    file("uverbs0");
    Path second = file("uverbs1");

    assertThat(new DeviceFiles(folder, second::equals).forbidden()).isEmpty();
  }

  @Test
  void shouldFindNoProblemIfThereIsNoDeviceFile() throws IOException {
    file("rdma_cm");

    assertThat(new DeviceFiles(folder, file -> false).forbidden()).isEmpty();
    assertThat(new DeviceFiles(folder.resolve("none"), file -> false).forbidden()).isEmpty();
  }

  @Test
  void shouldExplainWhyNoDeviceIsListed() throws IOException {
    Path file = file("uverbs0");

    assertThat(ErrnoAdvice.of("rdma_bind_addr", Errno.ENODEV, new DeviceFiles(folder, f -> false)))
        .isEqualTo(
            "no permission for "
                + file
                + ": chmod a+rw "
                + file
                + ", or add a udev rule to make it permanent");
    assertThat(ErrnoAdvice.of("rdma_bind_addr", Errno.ENODEV, new DeviceFiles(folder, f -> true)))
        .startsWith("no RDMA device has that address");
  }
}
