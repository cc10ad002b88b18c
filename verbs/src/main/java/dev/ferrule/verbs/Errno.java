// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import java.util.Map;

/** The error numbers of Linux, with their texts and with advice for the verbs. */
public final class Errno {

  /** Operation not permitted. */
  public static final int EPERM = 1;

  /** No such file or directory. */
  public static final int ENOENT = 2;

  /** Interrupted system call. */
  public static final int EINTR = 4;

  /** Input/output error: the device failed or is gone. */
  public static final int EIO = 5;

  /** No such device or address. */
  public static final int ENXIO = 6;

  /** Try again: no event is pending. */
  public static final int EAGAIN = 11;

  /** Out of memory, or of another resource. */
  public static final int ENOMEM = 12;

  /** Permission denied. */
  public static final int EACCES = 13;

  /** No such device. */
  public static final int ENODEV = 19;

  /** Invalid argument. */
  public static final int EINVAL = 22;

  /** Too many open files. */
  public static final int EMFILE = 24;

  /** Function not implemented. */
  public static final int ENOSYS = 38;

  /** Connection timed out. */
  public static final int ETIMEDOUT = 110;

  /** Address already in use. */
  public static final int EADDRINUSE = 98;

  /** Cannot assign requested address. */
  public static final int EADDRNOTAVAIL = 99;

  /** Connection refused. */
  public static final int ECONNREFUSED = 111;

  private static final Map<Integer, String> TEXTS =
      Map.ofEntries(
          Map.entry(EPERM, "Operation not permitted"),
          Map.entry(ENOENT, "No such file or directory"),
          Map.entry(EINTR, "Interrupted system call"),
          Map.entry(EIO, "Input/output error"),
          Map.entry(ENXIO, "No such device or address"),
          Map.entry(9, "Bad file descriptor"),
          Map.entry(EAGAIN, "Resource temporarily unavailable"),
          Map.entry(ENOMEM, "Cannot allocate memory"),
          Map.entry(EACCES, "Permission denied"),
          Map.entry(14, "Bad address"),
          Map.entry(16, "Device or resource busy"),
          Map.entry(17, "File exists"),
          Map.entry(ENODEV, "No such device"),
          Map.entry(EINVAL, "Invalid argument"),
          Map.entry(23, "Too many open files in system"),
          Map.entry(EMFILE, "Too many open files"),
          Map.entry(28, "No space left on device"),
          Map.entry(ENOSYS, "Function not implemented"),
          Map.entry(61, "No data available"),
          Map.entry(95, "Operation not supported"),
          Map.entry(97, "Address family not supported by protocol"),
          Map.entry(EADDRINUSE, "Address already in use"),
          Map.entry(EADDRNOTAVAIL, "Cannot assign requested address"),
          Map.entry(100, "Network is down"),
          Map.entry(101, "Network is unreachable"),
          Map.entry(103, "Software caused connection abort"),
          Map.entry(104, "Connection reset by peer"),
          Map.entry(107, "Transport endpoint is not connected"),
          Map.entry(ETIMEDOUT, "Connection timed out"),
          Map.entry(ECONNREFUSED, "Connection refused"),
          Map.entry(113, "No route to host"));

  private static final String GENERAL_ADVICE =
      "see the kernel's log (dmesg) and the state of the device (rdma link)";

  private Errno() {}

  /**
   * Returns the text of an error number.
   *
   * @param errno the number, positive
   * @return the text, followed by the number
   */
  public static String text(int errno) {
    String text = TEXTS.get(errno);
    return (text == null ? "error" : text) + " (errno " + errno + ")";
  }

  /**
   * Returns what to do about an error of a function. It is short, as it is also sent to a rejected
   * client, together with the function's name.
   */
  static String advice(String function, int errno) {
    return advice(function, errno, DeviceFiles.system());
  }

  static String advice(String function, int errno, DeviceFiles files) {
    return switch (errno) {
      case ENOMEM, EAGAIN ->
          function.startsWith("ibv_reg_mr")
              ? "raise the limit of locked memory (ulimit -l unlimited, memlock in limits.conf, or"
                  + " LimitMEMLOCK)"
              : "out of resources: use fewer or smaller queues, or close connections";
      case EACCES, EPERM ->
          "check the permissions of /dev/infiniband/uverbs* and /dev/infiniband/rdma_cm";
      case ENODEV, EADDRNOTAVAIL ->
          files
              .denial()
              .orElse(
                  "no RDMA device has that address: use that of one (rdma link, ip addr), or add"
                      + " one");
      case ENOENT ->
          function.equals("rdma_create_event_channel")
              ? "load the kernel module rdma_ucm (modprobe rdma_ucm)"
              : GENERAL_ADVICE;
      case ENOSYS -> "the kernel has no RDMA: load the device's driver, or ib_uverbs";
      case EINVAL ->
          function.equals("ibv_modify_qp")
              ? "the queue pair is in the wrong state: the connection has ended meanwhile"
              : function.startsWith("rdma_") && !function.equals("rdma_create_qp")
                  ? "the connection may have ended meanwhile, or the address is not one of an RDMA"
                      + " device"
                  : "a size may exceed the device's limit, see ibv_devinfo -v";
      case EMFILE -> "raise the limit of open files (ulimit -n)";
      case EADDRINUSE -> "another listener has that port: use another port";
      case EIO -> "the device failed or is gone: see the kernel's log (dmesg)";
      case 16 -> "an object created from it is still open: close that first";
      case 28 -> "the device is out of resources, see ibv_devinfo -v: close connections";
      case 100, 101, 113 -> "check the route to the peer (ip route) and the link (rdma link)";
      case ETIMEDOUT -> "check that the peer's host and the link are up (ping, rdma link)";
      default -> GENERAL_ADVICE;
    };
  }
}
