// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.posix.Errno;

/** What to do about an error number that a function of libibverbs or librdmacm has reported. */
final class ErrnoAdvice {

  private static final String GENERAL_ADVICE =
      "see the kernel's log (dmesg) and the state of the device (rdma link)";

  private static final String NO_DEVICE =
      "there is no RDMA device: load the driver (rdma_ucm) or add a soft-RoCE device";

  private ErrnoAdvice() {}

  /**
   * Returns what to do about an error of a function. The text is short, because it is also sent to
   * a rejected client, together with the function's name.
   */
  static String of(String function, int errno) {
    return of(function, errno, DeviceFiles.system());
  }

  static String of(String function, int errno, DeviceFiles files) {
    if (function.equals("rdma_create_event_channel")
        && (errno == Errno.ENODEV || errno == Errno.ENOENT)) {
      return files.denial().orElse(NO_DEVICE);
    }
    return switch (errno) {
      case Errno.ENOMEM, Errno.EAGAIN ->
          function.startsWith("ibv_reg_mr")
              ? "raise the limit of locked memory (ulimit -l unlimited, memlock in limits.conf, or"
                  + " LimitMEMLOCK)"
              : "out of resources: use fewer or smaller queues, or close connections";
      case Errno.EACCES, Errno.EPERM ->
          "check the permissions of /dev/infiniband/uverbs* and /dev/infiniband/rdma_cm";
      case Errno.ENODEV, Errno.EADDRNOTAVAIL ->
          files
              .denial()
              .orElse(
                  "no RDMA device has that address: use that of one (rdma link, ip addr), or add"
                      + " one");
      case Errno.ENOSYS -> "the kernel has no RDMA: load the device's driver, or ib_uverbs";
      case Errno.EINVAL ->
          function.equals("ibv_modify_qp")
              ? "the queue pair is in the wrong state: the connection has ended meanwhile"
              : function.startsWith("rdma_") && !function.equals("rdma_create_qp")
                  ? "the connection may have ended meanwhile, or the address is not one of an RDMA"
                      + " device"
                  : "a size may exceed the device's limit, see ibv_devinfo -v";
      case Errno.EMFILE -> "raise the limit of open files (ulimit -n)";
      case Errno.EADDRINUSE -> "another listener has that port: use another port";
      case Errno.EIO -> "the device failed or is gone: see the kernel's log (dmesg)";
      case Errno.EBUSY -> "an object created from it is still open: close that first";
      case Errno.ENOSPC -> "the device is out of resources, see ibv_devinfo -v: close connections";
      case Errno.ENETDOWN, Errno.ENETUNREACH, Errno.EHOSTUNREACH ->
          "check the route to the peer (ip route) and the link (rdma link)";
      case Errno.ETIMEDOUT -> "check that the peer's host and the link are up (ping, rdma link)";
      default -> GENERAL_ADVICE;
    };
  }
}
