// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Checks for an RDMA device with an active port, and for permission to use it. */
final class RdmaDeviceCheck implements Check {

  private static final Path DEVICES = Path.of("/sys/class/infiniband");
  private static final Path DEVICE_FILES = Path.of("/dev/infiniband");
  private static final String NAME = "RDMA device";
  private static final String SOFT_ROCE =
      "install one, or create one on a network card: modprobe rdma_rxe && rdma link add rxe0 type"
          + " rxe netdev eth0 (package iproute2); in a checkout of Ferrule, ./with-rxe runs a"
          + " command in a virtual machine with one";

  @Override
  public List<Finding> run() {
    List<Path> devices = children(DEVICES);
    if (devices.isEmpty()) {
      return List.of(
          Finding.missing(NAME, "none (" + DEVICES + " is empty or missing)", SOFT_ROCE));
    }
    List<Finding> findings = new ArrayList<>();
    devices.forEach(device ->
        children(device.resolve("ports")).forEach(port -> findings.add(port(device, port))));
    findings.add(file("rdma_cm", "rdma_ucm"));
    children(DEVICE_FILES).stream()
        .filter(file -> file.getFileName().toString().startsWith("uverbs"))
        .findFirst()
        .ifPresentOrElse(
            file -> findings.add(file(file.getFileName().toString(), "ib_uverbs")),
            () -> findings.add(file("uverbs0", "ib_uverbs")));
    return findings;
  }

  private static Finding port(Path device, Path port) {
    String where = device.getFileName() + " port " + port.getFileName();
    String state = read(port.resolve("state"));
    return state.contains("ACTIVE")
        ? Finding.ok(NAME, where + ": " + state + ", " + read(port.resolve("rate")))
        : Finding.warn(
            NAME,
            where + ": " + state,
            "bring up its network device: ip link set DEVICE up; or check the cable");
  }

  private static Finding file(String name, String module) {
    Path file = DEVICE_FILES.resolve(name);
    if (!Files.exists(file)) {
      return Finding.missing(
          "RDMA access",
          file + " does not exist",
          "modprobe " + module + "; in a container: docker run --device=" + DEVICE_FILES);
    }
    if (!Files.isReadable(file) || !Files.isWritable(file)) {
      return Finding.missing(
          "RDMA access",
          "no permission for " + file,
          "chmod a+rw " + file + "; permanently: a udev rule");
    }
    return Finding.ok("RDMA access", file.toString());
  }

  private static List<Path> children(Path directory) {
    try (Stream<Path> found = Files.list(directory)) {
      return found.sorted().toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      return "unknown";
    }
  }
}
