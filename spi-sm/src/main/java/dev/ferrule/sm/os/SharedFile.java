// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import dev.ferrule.bindings.libc.LibC;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/** Files that two processes map. */
public final class SharedFile {

  private SharedFile() {}

  /**
   * Creates a file and maps it, for whoever may enter its directory. All of its space is reserved
   * now: a file system that is full is an ENOSPC here and not a SIGBUS on some later access.
   *
   * @param path the file, which must not exist
   * @param size its size in bytes
   * @param arena unmaps it when closed
   * @return the mapping, zeroed
   * @throws PosixException if it cannot be created, reserved or mapped; then no file is left
   */
  public static MemorySegment create(Path path, long size, Arena arena) {
    int fd =
        Posix.open(
            path.toString(),
            LibC.O_RDWR() | LibC.O_CREAT() | LibC.O_EXCL() | Posix.O_NOFOLLOW,
            0600);
    boolean done = false;
    try {
      OwnDirectory.letGroupUse(fd, path, FileStatus.REGULAR, 060);
      int error = Posix.posixFallocate(fd, 0, size);
      if (error != 0) {
        throw new PosixException("posix_fallocate", path + ", " + size + " bytes", error);
      }
      MemorySegment mapping = map(fd, path, size, arena);
      done = true;
      return mapping;
    } finally {
      Posix.close(fd);
      if (!done) {
        LibC.unlink(Arena.ofAuto().allocateFrom(path.toString()));
      }
    }
  }

  /**
   * Maps the beginning of a file that another process created for a connection.
   *
   * @param path the file, PATH/PID/ID/conns/N/NAME
   * @param size how much to map, in bytes
   * @param arena unmaps it when closed
   * @return the mapping
   * @throws PosixException if there is no such file, it may not be opened, or is not a regular file
   *     of the endpoint's user ({@link PeerFile}); EINVAL if it is smaller, or has holes
   */
  public static MemorySegment attach(Path path, long size, Arena arena) {
    return attachAndLook(path, size, arena).memory();
  }

  /**
   * A file that another process created.
   *
   * @param memory the mapping
   * @param isPrivate whether it is this user's, and nobody else may write to it
   */
  public record Attached(MemorySegment memory, boolean isPrivate) {}

  /**
   * Does as {@link #attach}, and looks who may write to the very file that is mapped.
   *
   * @param path the file
   * @param size how much to map, in bytes
   * @param arena unmaps it when closed
   * @return the mapping, and who may write to it
   * @throws PosixException as for {@link #attach}
   */
  public static Attached attachAndLook(Path path, long size, Arena arena) {
    int fd = PeerFile.open(path, PeerFile.OF_CONNECTION, FileStatus.REGULAR, LibC.O_RDWR());
    try {
      FileStatus status = Posix.fstat(fd);
      // the end of the mapping has to be inside the file: touching a page beyond it would be a
      // SIGBUS
      if (status.size() < size) {
        throw new PosixException("attach", path + ", " + size + " bytes", LibC.EINVAL());
      }
      // and each page there: a hole would become a page of this process's making, a SIGBUS where
      // there is no room. Other file systems may count what they have compressed
      if (!status.isBacked() && Posix.isInTmpfs(fd)) {
        throw new PosixException(
            "attach",
            path + ", " + status.size() + " bytes, of which " + status.allocated() + " are there",
            LibC.EINVAL());
      }
      return new Attached(map(fd, path, size, arena), status.isPrivateOf(LibC.geteuid()));
    } finally {
      Posix.close(fd);
    }
  }

  private static MemorySegment map(int fd, Path path, long size, Arena arena) {
    // populated now, so that the first messages do not pay for page faults
    MemorySegment address =
        Posix.mmap(
            size,
            LibC.PROT_READ() | LibC.PROT_WRITE(),
            LibC.MAP_SHARED() | LibC.MAP_POPULATE(),
            fd,
            path.toString());
    try {
      return address.reinterpret(size, arena, mapping -> Posix.munmap(mapping, size));
    } catch (IllegalStateException e) {
      Posix.munmap(address, size); // the arena was closed meanwhile
      throw e;
    }
  }
}
