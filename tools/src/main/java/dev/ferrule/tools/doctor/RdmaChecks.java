// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import dev.ferrule.posix.NativeLibrary;
import dev.ferrule.posix.Posix;
import dev.ferrule.posix.PosixException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Checks what the transports over RDMA need. */
final class RdmaChecks {

  private static final List<String> LIBRARIES = List.of("libibverbs.so.1", "librdmacm.so.1");
  static final Path DEVICES = Path.of("/sys/class/infiniband");
  private static final Path DEVICE_FILES = Path.of("/dev/infiniband");
  private static final String DEVICE = "RDMA device";
  private static final String ACCESS = "RDMA access";
  private static final String SOFT_ROCE =
      "install one, or create one on a network card: modprobe rdma_rxe && rdma link add rxe0 type"
          + " rxe netdev eth0 (package iproute2); in a checkout of Ferrule, ./with-rxe runs a"
          + " command in a virtual machine with one";

  private static final long UNLIMITED = -1;
  private static final long ENOUGH_LOCKED_BYTES = 64L << 20;

  private RdmaChecks() {}

  /** Checks whether the system's RDMA libraries can be loaded. */
  static Finding libraries() {
    List<String> absent = new ArrayList<>();
    for (String library : LIBRARIES) {
      try {
        NativeLibrary.load(library);
      } catch (UnsatisfiedLinkError e) {
        absent.add(library);
      }
    }
    return absent.isEmpty()
        ? Finding.ok("RDMA libraries", String.join(" and ", LIBRARIES) + " can be loaded")
        : Finding.missing(
            "RDMA libraries",
            String.join(" and ", absent) + " cannot be loaded",
            "Debian and Ubuntu: apt-get install libibverbs1 librdmacm1 ibverbs-providers; Fedora:"
                + " dnf install libibverbs librdmacm");
  }

  /** Checks for an RDMA device with an active port, and for permission to use it. */
  static List<Finding> devices() {
    List<Path> devices = children(DEVICES);
    if (devices.isEmpty()) {
      return List.of(
          Finding.missing(DEVICE, "none (" + DEVICES + " is empty or missing)", SOFT_ROCE));
    }
    List<Finding> findings = new ArrayList<>();
    devices.forEach(device ->
        children(device.resolve("ports")).forEach(port -> findings.add(port(device, port))));
    findings.add(file("rdma_cm", "rdma_ucm"));
    String uverbs =
        children(DEVICE_FILES).stream()
            .map(file -> file.getFileName().toString())
            .filter(name -> name.startsWith("uverbs"))
            .findFirst()
            .orElse("uverbs0");
    findings.add(file(uverbs, "ib_uverbs"));
    return findings;
  }

  /** Returns the first finding that explains why no port can be used. */
  static Finding whyNoDeviceWorks() {
    return Stream.concat(Stream.of(libraries()), devices().stream())
        .filter(finding -> finding.status() != Finding.Status.OK)
        .findFirst()
        .orElseGet(() ->
            Finding.missing(
                DEVICE,
                "no active port has an IPv4 address on its network device",
                "ip address add ADDRESS/PREFIX dev DEVICE; InfiniBand: modprobe ib_ipoib first"));
  }

  static boolean isActive(Path port) {
    return read(port.resolve("state")).contains("ACTIVE");
  }

  private static Finding port(Path device, Path port) {
    String where = device.getFileName() + " port " + port.getFileName();
    String state = read(port.resolve("state"));
    return isActive(port)
        ? Finding.ok(DEVICE, where + ": " + state + ", " + read(port.resolve("rate")))
        : Finding.warn(
            DEVICE,
            where + ": " + state,
            "bring up its network device: ip link set DEVICE up; or check the cable");
  }

  private static Finding file(String name, String module) {
    Path file = DEVICE_FILES.resolve(name);
    if (!Files.exists(file)) {
      return Finding.missing(
          ACCESS,
          file + " does not exist",
          "modprobe " + module + "; in a container: docker run --device=" + DEVICE_FILES);
    }
    return Files.isReadable(file) && Files.isWritable(file)
        ? Finding.ok(ACCESS, file.toString())
        : Finding.missing(
            ACCESS,
            "no permission for " + file,
            "chmod a+rw " + file + "; permanently: a udev rule");
  }

  static List<Path> children(Path directory) {
    try (Stream<Path> found = Files.list(directory)) {
      return found.sorted().toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  static String read(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      return "unknown";
    }
  }

  /** Checks the limit of memory that may be pinned for an RDMA device. */
  static Finding lockedMemory() {
    String name = "locked memory";
    long bytes;
    try {
      bytes = Posix.getrlimit(Posix.RLIMIT_MEMLOCK);
    } catch (PosixException e) {
      return Finding.warn(name, "getrlimit(RLIMIT_MEMLOCK) failed", "");
    }
    if (bytes == UNLIMITED) {
      return Finding.ok(name, "unlimited");
    }
    return Long.compareUnsigned(bytes, ENOUGH_LOCKED_BYTES) >= 0
        ? Finding.ok(
            name,
            "up to " + (bytes >> 20) + " MiB, for the buffers of RDMA connections (sm needs none)")
        : Finding.warn(
            name,
            "only up to "
                + (bytes >> 10)
                + " KiB; RDMA connections pin their buffers and need more (sm needs none)",
            "ulimit -l unlimited; permanently: '* - memlock unlimited' in"
                + " /etc/security/limits.conf, systemd LimitMEMLOCK=infinity, docker run --ulimit"
                + " memlock=-1");
  }
}
