// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.Availability;
import dev.ferrule.verbs.calls.CmCalls;
import dev.ferrule.verbs.calls.NativeCmCalls;
import dev.ferrule.verbs.calls.NativeVerbsCalls;
import dev.ferrule.verbs.calls.RawMemory;
import dev.ferrule.verbs.calls.VerbsCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The C libraries, libibverbs and librdmacm, as installed or as a test has them.
 *
 * {@snippet lang=java :
 * VerbsLibrary library = VerbsLibrary.system();
 * for (String device : library.deviceNames()) {
 *   try (VerbsContext context = library.open(device)) {
 *     System.out.println(device + ": " + context.attributes().maxQueuePairs() + " queue pairs");
 *   }
 * }
 * }
 *
 * <p><b>Threads:</b> any number of threads may use one.
 */
public final class VerbsLibrary {

  private static final Path CM_DEVICE = Path.of("/dev/infiniband/rdma_cm");
  private static final String PACKAGES =
      "install the packages of rdma-core (Debian, Ubuntu: libibverbs1 librdmacm1"
          + " ibverbs-providers)";

  private final VerbsCalls verbs;
  private final CmCalls cm;

  private VerbsLibrary(VerbsCalls verbs, CmCalls cm) {
    this.verbs = verbs;
    this.cm = cm;
  }

  /** Loads the libraries when first asked for. */
  private static final class Loaded {
    static final VerbsLibrary INSTANCE =
        new VerbsLibrary(new NativeVerbsCalls(), new NativeCmCalls());
  }

  /**
   * Returns the installed libraries.
   *
   * @return the libraries
   * @throws LinkageError if they are not installed; {@link #availability()} says so without one
   */
  public static VerbsLibrary system() {
    return Loaded.INSTANCE;
  }

  /**
   * Puts something else in place of the installed libraries.
   *
   * @param verbs instead of libibverbs
   * @param cm instead of librdmacm
   * @return the library
   */
  public static VerbsLibrary of(VerbsCalls verbs, CmCalls cm) {
    return new VerbsLibrary(verbs, cm);
  }

  /**
   * Tells whether RDMA works on this machine.
   *
   * @return whether it does, or why not and what to do
   */
  public static Availability availability() {
    if (!System.getProperty("os.name").equals("Linux")) {
      return Availability.no("RDMA needs Linux", "run it on Linux");
    }
    try {
      if (system().deviceNames().isEmpty()) {
        return Availability.no(
            "there is no RDMA device",
            "load the driver of the card, or make one in software: modprobe rdma_rxe && rdma link"
                + " add rxe0 type rxe netdev eth0; a checkout of Ferrule has the script with-rxe,"
                + " which runs a command where there is one");
      }
      if (!Files.isReadable(CM_DEVICE) || !Files.isWritable(CM_DEVICE)) {
        return Files.exists(CM_DEVICE)
            ? Availability.no(DeviceFiles.problem(CM_DEVICE), DeviceFiles.fix(CM_DEVICE))
            : Availability.no("there is no " + CM_DEVICE, "load its module: modprobe rdma_ucm");
      }
      return system().deviceAvailability(DeviceFiles.system());
    } catch (VerbsException e) {
      return Availability.no(
          "the devices cannot be listed: " + e.getMessage(),
          "load ib_uverbs and the card's driver");
    } catch (IllegalCallerException e) {
      return Availability.no(
          "the JVM does not allow C functions to be called",
          "start it with --enable-native-access=ALL-UNNAMED, or on the module path with"
              + " --enable-native-access=dev.ferrule.verbs,dev.ferrule.bindings");
    } catch (LinkageError e) {
      return Availability.no("libibverbs.so.1 or librdmacm.so.1 cannot be loaded", PACKAGES);
    }
  }

  /**
   * Tells why there seems to be no device although there is one: the libraries say nothing of those
   * that this process may not use.
   *
   * @return which file it may not use, and what to do; empty if that is not why
   */
  public static Optional<String> denial() {
    return DeviceFiles.system().denial();
  }

  /** Whether one of the devices that are listed can be opened. */
  Availability deviceAvailability(DeviceFiles files) {
    VerbsException failure = null;
    for (String name : deviceNames()) {
      try {
        open(name).close();
        return Availability.yes();
      } catch (VerbsException e) {
        failure = e;
      }
    }
    Optional<Path> forbidden = files.forbidden();
    if (forbidden.isPresent()) {
      return Availability.no(
          DeviceFiles.problem(forbidden.get()), DeviceFiles.fix(forbidden.get()));
    }
    return Availability.no(
        "no device can be opened: " + (failure == null ? "there is none" : failure.getMessage()),
        "see ferrule doctor and the kernel's log (dmesg)");
  }

  /**
   * Returns the functions of libibverbs.
   *
   * @return the functions
   */
  public VerbsCalls verbs() {
    return verbs;
  }

  /**
   * Returns the functions of librdmacm.
   *
   * @return the functions
   */
  public CmCalls cm() {
    return cm;
  }

  /**
   * Lists the devices.
   *
   * @return their names, such as mlx5_0 or rxe0
   * @throws VerbsException if the kernel has no RDMA
   */
  public List<String> deviceNames() {
    List<String> names = new ArrayList<>();
    forEachDevice((name, device) -> names.add(name));
    return names;
  }

  private interface DeviceVisitor {
    void visit(String name, long device);
  }

  private void forEachDevice(DeviceVisitor visitor) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment count = arena.allocate(ValueLayout.JAVA_INT);
      long list = verbs.getDeviceList(count);
      if (list == -Errno.ENOSYS) {
        return; // the kernel has no RDMA, so no devices either
      }
      VerbsException.check("ibv_get_device_list", "", list);
      try {
        for (int i = 0; i < count.get(ValueLayout.JAVA_INT, 0); i++) {
          long device = RawMemory.getLong(list + (long) i * Long.BYTES);
          visitor.visit(verbs.getDeviceName(device), device);
        }
      } finally {
        verbs.freeDeviceList(list);
      }
    }
  }

  /**
   * Opens a device.
   *
   * @param name its name
   * @return its context, to be closed
   * @throws VerbsException if there is none of that name (ENODEV), or it cannot be opened
   */
  public VerbsContext open(String name) {
    long[] opened = {-Errno.ENODEV};
    forEachDevice(
        (candidate, device) -> {
          if (candidate.equals(name)) {
            opened[0] = verbs.openDevice(device);
          }
        });
    VerbsException.check("ibv_open_device", name, opened[0]);
    return new VerbsContext(verbs, opened[0], true);
  }

  /**
   * Returns the context of a device that the connection manager has opened, which stays open.
   *
   * @param address the address of the {@code ibv_context}
   * @return the context; closing it does nothing
   */
  public VerbsContext context(long address) {
    return new VerbsContext(verbs, address, false);
  }
}
