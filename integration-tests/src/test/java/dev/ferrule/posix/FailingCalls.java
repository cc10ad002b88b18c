// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import java.lang.reflect.Field;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Makes system calls of this process fail at random, with an errno that the function's manual page
 * lists. Calls that release a resource, and calls that only query one, do not fail.
 */
public final class FailingCalls {

  private static final int ENOLCK = 37; // no locks available

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
          Map.entry("eventfd", List.of(Errno.EMFILE, Errno.ENOMEM)),
          Map.entry("mkdir", List.of(Errno.ENOSPC, Errno.ENOMEM)),
          Map.entry("bind", List.of(Errno.ENOMEM)),
          Map.entry("fcntl", List.of(ENOLCK)),
          Map.entry("poll", List.of(Errno.EINTR, Errno.ENOMEM)),
          Map.entry("epoll_wait", List.of(Errno.EINTR)),
          Map.entry("futex", List.of(Errno.EINTR, Errno.EAGAIN)),
          Map.entry("read", List.of(Errno.EINTR)),
          Map.entry("write", List.of(Errno.EAGAIN, Errno.EINTR)),
          Map.entry("process_vm_readv", List.of(Errno.EPERM, Errno.ENOMEM)),
          Map.entry("process_vm_writev", List.of(Errno.EPERM, Errno.ENOMEM)));

  /** The functions of {@link Posix} that have handles of their own, by which they may fail. */
  private static final Set<String> OF_DATA_PATH =
      Set.of("read", "write", "epoll_wait", "futex", "process_vm_readv", "process_vm_writev");

  private static final Map<String, Integer> FAILED = new HashMap<>(); // guarded by itself

  private FailingCalls() {}

  /** {@return the functions whose calls fail} */
  public static Set<String> functions() {
    return ERRORS.keySet();
  }

  /**
   * Makes calls fail from now on.
   *
   * @param seed determines which calls fail
   * @param percent the probability that a call fails
   * @param failing the functions whose calls fail, out of {@link #functions}
   * @throws IllegalArgumentException if there is no such function
   */
  public static void begin(long seed, int percent, Set<String> failing) {
    checkContained(failing, ERRORS.keySet());
    checkContained(ERRORS.keySet(), namesInPosix());
    Random random = new Random(seed);
    NativeFunction.faults =
        function -> {
          List<Integer> errors = ERRORS.get(function);
          if (errors == null || !failing.contains(function)) {
            return 0;
          }
          synchronized (FAILED) {
            if (random.nextInt(100) >= percent) {
              return 0;
            }
            FAILED.merge(function, 1, Integer::sum);
            return errors.get(random.nextInt(errors.size()));
          }
        };
  }

  /** Checks names, as a wrong one would let no call fail. */
  private static void checkContained(Set<String> names, Set<String> all) {
    Set<String> unknown = new TreeSet<>(names);
    unknown.removeAll(all);
    if (!unknown.isEmpty()) {
      throw new IllegalArgumentException("no calls of these names can fail: " + unknown);
    }
  }

  private static Set<String> namesInPosix() {
    Set<String> names = new HashSet<>(OF_DATA_PATH);
    for (Field field : Posix.class.getDeclaredFields()) {
      if (field.getType() == NativeFunction.class) {
        try {
          field.setAccessible(true);
          names.add(((NativeFunction) field.get(null)).name());
        } catch (IllegalAccessException e) {
          throw new AssertionError(e);
        }
      }
    }
    return names;
  }

  /** Makes no call fail any more. */
  public static void end() {
    NativeFunction.faults = function -> 0;
  }

  /** {@return how many calls of each function have failed since this method was last called} */
  public static Map<String, Integer> takeCounts() {
    synchronized (FAILED) {
      Map<String, Integer> counts = new TreeMap<>(FAILED);
      FAILED.clear();
      return counts;
    }
  }
}
