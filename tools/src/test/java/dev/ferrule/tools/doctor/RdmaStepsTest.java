// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RdmaStepsTest {

  private static final Map<String, String> ADDRESSES = Map.of("eth1", "10.0.0.18");
  private static final ActivePort ROCE =
      new ActivePort("mlx5_1", "1", "10.0.0.18", Optional.of("3"));

  @TempDir private Path devices;

  @BeforeEach
  void aDeviceThatIsDownAndOneThatWorks() throws IOException {
    write("mlx5_0/ports/1/state", "1: DOWN");
    write("mlx5_0/ports/1/gid_attrs/ndevs/0", "eth1");
    write("mlx5_1/ports/1/state", "4: ACTIVE");
    write("mlx5_1/ports/1/gid_attrs/ndevs/0", "eth1");
    for (String index : List.of("0", "2", "3")) {
      write(
          "mlx5_1/ports/1/gid_attrs/types/" + index, index.equals("3") ? "RoCE v2" : "IB/RoCE v1");
      write(
          "mlx5_1/ports/1/gids/" + index,
          (index.equals("0") ? "fe80" : "0000") + ":0000:0000:0000:0000:ffff:0a00:0012");
    }
  }

  private void write(String file, String text) throws IOException {
    Path path = devices.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text + "\n");
  }

  private Optional<ActivePort> find() {
    return ActivePort.find(devices, name -> Optional.ofNullable(ADDRESSES.get(name)));
  }

  @Test
  void theFirstActivePortWithAnAddressIsUsedWithItsRoceV2Gid() {
    assertThat(find()).contains(ROCE);
    assertThat(ROCE).hasToString("mlx5_1 port 1, address 10.0.0.18, GID index 3");
  }

  @Test
  void onInfiniBandTheAddressIsThatOfTheNetworkDeviceOfTheCard() throws IOException {
    write("mlx5_1/ports/1/gid_attrs/ndevs/0", "");
    write("mlx5_1/ports/1/gids/3", "fe80:0000:0000:0000:0000:0000:0000:0001");
    Files.createDirectories(devices.resolve("mlx5_1/device/net/eth1"));
    assertThat(find()).contains(new ActivePort("mlx5_1", "1", "10.0.0.18", Optional.empty()));
  }

  @Test
  void aPortWithoutAnAddressIsNotUsed() throws IOException {
    write("mlx5_1/ports/1/gid_attrs/ndevs/0", "eth0");
    assertThat(find()).isEmpty();
  }

  @Test
  void theHostIsDescribedBeforeTheDeviceIsMeasured() {
    assertThat(RdmaSteps.ofHost())
        .extracting(DiagnosticStep::text)
        .containsExactly(
            "ferrule --version",
            "ferrule doctor",
            "ibv_devinfo -v",
            "rdma link",
            "ip address",
            "uname -srm; ulimit -l");
    assertThat(RdmaSteps.on(ROCE))
        .extracting(DiagnosticStep::name)
        .containsExactly(
            "latency sendrecv",
            "latency magicring",
            "rate sendrecv",
            "rate magicring",
            "rma sendrecv",
            "shared receives",
            "wait=block",
            "ib_send_lat",
            "ib_send_bw",
            "ib_write_lat");
  }

  @Test
  void theNamesFitInTheirColumn() {
    assertThat(RdmaSteps.on(ROCE)).allMatch(step -> step.name().length() <= 18);
  }

  @Test
  void allCommandsUseTheSamePort() {
    assertThat(RdmaSteps.on(ROCE))
        .allSatisfy(step ->
            assertThat(step.text())
                .containsAnyOf(
                    " --host 10.0.0.18 ", " -d mlx5_1 -i 1 -x 3 -s 64 -n 5000 10.0.0.18"));
  }
}
