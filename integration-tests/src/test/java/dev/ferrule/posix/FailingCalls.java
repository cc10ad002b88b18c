// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Makes system calls of this process fail at random, with an errno that the function's manual page
 * lists. Calls of the data path, and calls that release a resource, do not fail.
 */
public final class FailingCalls {

  private static final Map<String, List<Integer>> ERRORS =
      Map.ofEntries(
          Map.entry("open", List.of(Errno.EMFILE, Errno.ENOMEM, Errno.ENOSPC)),
          Map.entry("openat", List.of(Errno.EMFILE, Errno.ENOMEM, Errno.ENOSPC)),
          Map.entry("ftruncate", List.of(Errno.EINTR, Errno.ENOSPC)),
          Map.entry("posix_fallocate", List.of(Errno.EINTR, Errno.ENOSPC)),
          Map.entry("mkfifo", List.of(Errno.ENOSPC)),
          Map.entry("memfd_create", List.of(Errno.EMFILE, Errno.ENOMEM)),
          Map.entry("mmap", List.of(Errno.ENOMEM, Errno.EAGAIN)),
          Map.entry("mremap", List.of(Errno.ENOMEM)),
          Map.entry("socket", List.of(Errno.EMFILE, Errno.ENOMEM)),
          Map.entry("sendmsg", List.of(Errno.EAGAIN, Errno.EINTR, Errno.ENOMEM)),
          Map.entry("recvmsg", List.of(Errno.EINTR, Errno.ENOMEM)),
          Map.entry("epoll_create1", List.of(Errno.EMFILE, Errno.ENOMEM)),
          Map.entry("epoll_ctl", List.of(Errno.ENOMEM)),
          Map.entry("eventfd", List.of(Errno.EMFILE, Errno.ENOMEM)));

  private FailingCalls() {}

  /**
   * Makes calls fail from now on.
   *
   * @param seed determines which calls fail
   * @param percent the probability that a call fails
   */
  public static void begin(long seed, int percent) {
    Random random = new Random(seed);
    NativeFunction.faults =
        function -> {
          List<Integer> errors = ERRORS.get(function);
          synchronized (random) {
            return errors == null || random.nextInt(100) >= percent
                ? 0
                : errors.get(random.nextInt(errors.size()));
          }
        };
  }

  /** Makes no call fail any more. */
  public static void end() {
    NativeFunction.faults = function -> 0;
  }
}
