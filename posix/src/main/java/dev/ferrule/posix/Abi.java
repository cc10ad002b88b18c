// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

/**
 * The numbers and layouts of Linux that the modules use and that differ between machines. The
 * bindings were generated on x86-64, so they are not used for these. A test compares both sets with
 * the C headers of their machines.
 *
 * @param membarrier the number of the system call membarrier(2)
 * @param futex the number of the system call futex(2)
 * @param fstat the number of the system call fstat(2)
 * @param noFollow the flag O_NOFOLLOW of open(2)
 * @param directory the flag O_DIRECTORY of open(2)
 * @param statMode the offset in bytes of st_mode in the kernel's struct stat
 * @param statUser the offset in bytes of st_uid
 * @param statLinks the offset in bytes of st_nlink
 * @param eventSize the size in bytes of struct epoll_event, which is packed on x86-64 only
 * @param eventData the offset in bytes of its field data
 */
record Abi(
    int membarrier,
    int futex,
    int fstat,
    int noFollow,
    int directory,
    int statMode,
    int statUser,
    int statLinks,
    int eventSize,
    int eventData) {

  /** That of x86-64. */
  static final Abi X86_64 = new Abi(324, 202, 5, 0400000, 0200000, 24, 28, 16, 12, 4);

  /** That of aarch64. */
  static final Abi AARCH64 = new Abi(283, 98, 80, 0100000, 040000, 16, 24, 20, 16, 8);

  /** That of this machine. */
  static final Abi CURRENT = Architecture.isAarch64() ? AARCH64 : X86_64;
}
