// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import dev.ferrule.posix.FileSystemStatus;
import dev.ferrule.posix.Posix;
import dev.ferrule.posix.PosixException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** Checks for a tmpfs for the sm provider's files, with free space. */
final class SharedMemoryCheck implements Check {

  private static final Path DIRECTORY = Path.of("/dev/shm");
  private static final String NAME = "shared memory";
  private static final long RAMFS_MAGIC = 0x858458f6L;
  private static final long SMALL_BYTES = 64L << 20;
  private static final long LITTLE_FREE_BYTES = 32L << 20;
  private static final double MEBIBYTE = 1 << 20;

  @Override
  public List<Finding> run() {
    if (!Files.isDirectory(DIRECTORY)) {
      return List.of(
          Finding.warn(
              NAME,
              DIRECTORY + " does not exist; files on other file systems are written back to disk",
              "mount -t tmpfs -o mode=1777 tmpfs "
                  + DIRECTORY
                  + ", or use the directory of another tmpfs in sm:///DIRECTORY"));
    }
    if (!Files.isWritable(DIRECTORY)) {
      return List.of(Finding.warn(NAME, DIRECTORY + " is not writable", "chmod 1777 " + DIRECTORY));
    }
    try {
      return List.of(judge(Posix.statfs(DIRECTORY.toString())));
    } catch (PosixException e) {
      return List.of(Finding.warn(NAME, "statfs of " + DIRECTORY + " failed", ""));
    }
  }

  private static Finding judge(FileSystemStatus found) {
    if (found.type() != Posix.TMPFS_MAGIC && found.type() != RAMFS_MAGIC) {
      return Finding.warn(
          NAME,
          String.format(
              Locale.ROOT,
              "%s is not a tmpfs (type %#x): its files are written back to disk",
              DIRECTORY,
              found.type()),
          "mount -t tmpfs -o mode=1777 tmpfs " + DIRECTORY);
    }
    String sizes =
        String.format(
            Locale.ROOT,
            "%s is a tmpfs of %.0f MiB, %.0f MiB free",
            DIRECTORY,
            found.size() / MEBIBYTE,
            found.free() / MEBIBYTE);
    if (found.size() <= SMALL_BYTES) {
      return Finding.warn(
          NAME,
          sizes
              + "; this is the default of containers, enough for a few connections with"
              + " the default options (8.5 MiB each; a smaller maxMessage takes less)",
          "docker run --shm-size=1g, compose shm_size: 1gb, Kubernetes an emptyDir with medium:"
              + " Memory on "
              + DIRECTORY);
    }
    if (found.free() < LITTLE_FREE_BYTES) {
      return Finding.warn(
          NAME,
          sizes,
          "remove unneeded files from " + DIRECTORY + ", or mount -o remount,size=2g " + DIRECTORY);
    }
    return Finding.ok(NAME, sizes);
  }
}
