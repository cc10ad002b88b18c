// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.RawMemory;
import dev.ferrule.verbs.calls.CmCalls;
import dev.ferrule.verbs.calls.NativeCmCalls;
import dev.ferrule.verbs.calls.NativeVerbsCalls;
import dev.ferrule.verbs.calls.VerbsCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The C libraries libibverbs and librdmacm: the installed ones, or replacements for tests.
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
 * <p><b>Threads:</b> safe for use by several threads.
 */
public final class VerbsLibrary {

  private final VerbsCalls verbs;
  private final CmCalls cm;

  private VerbsLibrary(VerbsCalls verbs, CmCalls cm) {
    this.verbs = verbs;
    this.cm = cm;
  }

  /** Loads the libraries on first use. */
  private static final class Loaded {
    static final VerbsLibrary INSTANCE =
        new VerbsLibrary(new NativeVerbsCalls(), new NativeCmCalls());
  }

  /**
   * Returns the installed libraries.
   *
   * @return the libraries
   * @throws LinkageError if libibverbs.so.1 or librdmacm.so.1 is not installed
   */
  public static VerbsLibrary system() {
    return Loaded.INSTANCE;
  }

  /**
   * Returns a library with replacements of the installed ones.
   *
   * @param verbs replaces libibverbs
   * @param cm replaces librdmacm
   * @return the library
   */
  public static VerbsLibrary of(VerbsCalls verbs, CmCalls cm) {
    return new VerbsLibrary(verbs, cm);
  }

  /**
   * Returns why no device is listed although there is one: libibverbs omits devices that this
   * process may not open.
   *
   * @return the device file and the fix; empty if permissions are not the reason
   */
  public static Optional<String> denial() {
    return DeviceFiles.system().denial();
  }

  /** {@return the functions of libibverbs} */
  public VerbsCalls verbs() {
    return verbs;
  }

  /** {@return the functions of librdmacm} */
  public CmCalls cm() {
    return cm;
  }

  /**
   * Lists the devices.
   *
   * @return their names, such as mlx5_0 or rxe0; empty if the kernel has no RDMA
   * @throws VerbsException if they cannot be listed for another reason
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
        return; // the kernel has no RDMA, so no devices
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
   * @throws VerbsException ENODEV if there is no device of that name; another errno if it cannot be
   *     opened
   */
  public VerbsContext open(String name) {
    long[] opened = {-Errno.ENODEV};
    forEachDevice((candidate, device) -> {
      if (candidate.equals(name)) {
        opened[0] = verbs.openDevice(device);
      }
    });
    VerbsException.check("ibv_open_device", name, opened[0]);
    return new VerbsContext(verbs, opened[0], true);
  }

  /**
   * Returns the context of a device that librdmacm has opened and keeps open.
   *
   * @param address the address of the {@code ibv_context}
   * @return the context; closing it does nothing
   */
  public VerbsContext context(long address) {
    return new VerbsContext(verbs, address, false);
  }
}
