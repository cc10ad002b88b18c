// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.context;

import dev.ferrule.Availability;
import dev.ferrule.posix.Architecture;
import dev.ferrule.posix.Errno;
import dev.ferrule.verbs.DeviceFiles;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.VerbsLibrary;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Determines whether RDMA is available on this machine.
 *
 * <p><b>Threads:</b> safe for use by several threads.
 */
public final class RdmaAvailability {

  private static final Path CM_DEVICE = Path.of("/dev/infiniband/rdma_cm");
  private static final String PACKAGES =
      "install the packages of rdma-core (Debian, Ubuntu: libibverbs1 librdmacm1"
          + " ibverbs-providers)";

  /** The errors of a device or a driver that is gone. */
  private static final Set<Integer> GONE =
      Set.of(
          Errno.ENODEV, Errno.ENOENT, Errno.ENXIO, Errno.EACCES, Errno.EPERM, Errno.EADDRNOTAVAIL);

  /** Whether RDMA has been found available before. */
  private static volatile boolean found;

  /**
   * Whether the JVM is known to forbid calls of C functions. It is recorded, because only the first
   * use of a class that cannot be initialized reports the reason.
   */
  private static volatile boolean forbidden;

  private RdmaAvailability() {}

  /**
   * Returns whether RDMA is available on this machine: the libraries are installed, the kernel has
   * a device, and this process may use it. Once a device has been found, devices are not listed
   * again until {@link #after} a failure. Never throws.
   *
   * @return the availability, with the reason and the fix if it is not available
   */
  public static Availability here() {
    if (found) {
      return new Availability.Available();
    }
    Availability now = look();
    if (now.available()) {
      found = true;
    }
    return now;
  }

  /**
   * Returns whether RDMA is still available after a connection or listener could not be created.
   * Lists the devices again if the cause may be that the device is gone.
   *
   * @param failure the failure
   * @return the availability; available if the failure is no reason to doubt it
   */
  public static Availability after(Throwable failure) {
    if (!found
        || !(failure.getCause() instanceof VerbsException cause)
        || !GONE.contains(cause.errno())) {
      return new Availability.Available();
    }
    found = false;
    return here();
  }

  private static synchronized Availability look() {
    if (!System.getProperty("os.name").equals("Linux")) {
      return new Availability.Unavailable("RDMA needs Linux", "run it on Linux");
    }
    if (!Architecture.isSupported()) {
      return new Availability.Unavailable(
          "RDMA needs x86-64 or aarch64, and this is " + Architecture.name(),
          "run it on one of these");
    }
    try {
      return of(VerbsLibrary.system(), DeviceFiles.system());
    } catch (VerbsException e) {
      return new Availability.Unavailable(
          "the devices cannot be listed: " + e.getMessage(),
          "load ib_uverbs and the card's driver");
    } catch (LinkageError e) {
      if (isForbidden(e)) {
        forbidden = true;
      }
      if (forbidden) {
        return new Availability.Unavailable(
            "the JVM does not permit calls of C functions",
            "start it with --enable-native-access=ALL-UNNAMED, or on the module path with"
                + " --enable-native-access="
                + "dev.ferrule.posix,dev.ferrule.verbs");
      }
      return new Availability.Unavailable(
          "libibverbs.so.1 or librdmacm.so.1 cannot be loaded", PACKAGES);
    }
  }

  /**
   * Returns whether the JVM forbids calls of C functions. The first call is in the initialization
   * of a class, so its exception is wrapped.
   */
  private static boolean isForbidden(LinkageError error) {
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      if (cause instanceof IllegalCallerException) {
        return true;
      }
    }
    return false;
  }

  private static Availability of(VerbsLibrary library, DeviceFiles files) {
    List<String> devices = library.deviceNames();
    if (devices.isEmpty()) {
      return new Availability.Unavailable(
          "there is no RDMA device",
          "load the driver of the card, or create a software device: modprobe rdma_rxe && rdma link"
              + " add rxe0 type rxe netdev eth0; a checkout of Ferrule has the script with-rxe,"
              + " which runs a command with such a device");
    }
    if (!Files.isReadable(CM_DEVICE) || !Files.isWritable(CM_DEVICE)) {
      return Files.exists(CM_DEVICE)
          ? new Availability.Unavailable(DeviceFiles.problem(CM_DEVICE), DeviceFiles.fix(CM_DEVICE))
          : new Availability.Unavailable(
              "there is no " + CM_DEVICE, "load its module: modprobe rdma_ucm");
    }
    return ofDevices(library, files);
  }

  /** Returns whether one of the listed devices can be opened. */
  static Availability ofDevices(VerbsLibrary library, DeviceFiles files) {
    @Nullable VerbsException failure = null;
    for (String name : library.deviceNames()) {
      try {
        library.open(name).close();
        return new Availability.Available();
      } catch (VerbsException e) {
        failure = e;
      }
    }
    Optional<Path> forbidden = files.forbidden();
    if (forbidden.isPresent()) {
      return new Availability.Unavailable(
          DeviceFiles.problem(forbidden.get()), DeviceFiles.fix(forbidden.get()));
    }
    return new Availability.Unavailable(
        "no device can be opened: " + (failure == null ? "there is none" : failure.getMessage()),
        "see ferrule doctor and the kernel's log (dmesg)");
  }
}
