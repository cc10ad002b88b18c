// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A file without a name whose size is sealed: memfd_create(2) and F_SEAL_SHRINK. One process
 * creates it and passes its descriptor to another, and both map it. Neither can shrink it, so no
 * access to the mapping raises SIGBUS, whatever the other process does. Most of the JVM's own
 * routines do not survive a SIGBUS.
 *
 * <p>The file is in the kernel's internal tmpfs, which has no limit of its own: neither a full
 * {@code /dev/shm} nor a container's small one matters. Its pages are charged to the process that
 * touches them first.
 *
 * <p>The mapping outlives the descriptor, which is to be closed once it has been mapped and passed
 * on.
 */
public final class SealedFile implements AutoCloseable {

  /** The name of each file, shown in {@code /proc/PID/maps}. */
  public static final String NAME = "ferrule";

  private final int fd;
  private final boolean isInMemory;
  private boolean closed; // guarded by this monitor

  /**
   * Takes ownership of a descriptor, which is closed with this. The file is not inspected yet.
   *
   * @param fd the descriptor
   */
  SealedFile(int fd) {
    this.fd = fd;
    this.isInMemory = Posix.fcntl(fd, Posix.F_GET_SEALS, 0) >= 0;
  }

  /**
   * Creates a file and seals its size.
   *
   * @param size its size in bytes
   * @param reserved how much of it, from its start, is allocated now
   * @return the file, zeroed
   * @throws PosixException if it cannot be created, or there is no memory for it
   */
  public static SealedFile create(long size, long reserved) {
    SealedFile file = new SealedFile(createFile());
    boolean done = false;
    try {
      Posix.ftruncate(file.fd, size, describe(size));
      int error = Posix.posixFallocate(file.fd, 0, reserved);
      if (error != 0) { // there is no file system that could be full
        int reason = error == Errno.ENOSPC ? Errno.ENOMEM : error;
        throw new PosixException("posix_fallocate", describe(reserved), reason);
      }
      int seals = Posix.F_SEAL_SHRINK | Posix.F_SEAL_GROW | Posix.F_SEAL_SEAL;
      int result = Posix.fcntl(file.fd, Posix.F_ADD_SEALS, seals);
      if (result < 0) {
        throw new PosixException("fcntl(F_ADD_SEALS)", describe(size), -result);
      }
      done = true;
      return file;
    } finally {
      if (!done) {
        file.close();
      }
    }
  }

  private static int createFile() {
    int flags = Posix.MFD_CLOEXEC | Posix.MFD_ALLOW_SEALING;
    int fd = Posix.memfdCreate(NAME, flags | Posix.MFD_NOEXEC_SEAL);
    if (fd == -Errno.EINVAL) {
      fd = Posix.memfdCreate(NAME, flags);
    }
    if (fd < 0) {
      throw new PosixException("memfd_create", NAME, -fd);
    }
    return fd;
  }

  private static String describe(long size) {
    return "shared memory of " + size + " bytes";
  }

  /**
   * The maximum sizes that this process maps. Peers choose how large their files are, and a sparse
   * file could take its whole address space.
   *
   * @param file the maximum size of a file, in bytes
   * @param process the maximum size of all mappings of this process, in bytes
   */
  public record Limits(long file, long process) {

    /** No limits, for a file that this process has created. */
    public static final Limits NONE = new Limits(Long.MAX_VALUE, Long.MAX_VALUE);
  }

  /**
   * Maps the file, for reading and writing.
   *
   * @param limits the most that is mapped
   * @param allocated how much of it, from its start, must be allocated
   * @param populated how much of that is mapped with its pages, so that the first messages cause no
   *     page faults
   * @return the mapping of the whole file
   * @throws PosixException EINVAL if it is not such a file, has fewer bytes, cannot be written to,
   *     or that part of it is not allocated: the peer created it, and may be hostile; EFBIG if it
   *     exceeds the limit of a file, and ENOMEM if it exceeds that of the process
   */
  public synchronized SharedMapping map(Limits limits, long allocated, long populated) {
    long size = check(allocated);
    if (size > limits.file()) {
      throw new PosixException(
          "mmap",
          "a file of " + size + " bytes, which exceeds the maximum of " + limits.file(),
          Errno.EFBIG);
    }
    try {
      return SharedMapping.of(AddressSpace.OF_PROCESS, fd, size, populated, limits.process());
    } catch (PosixException e) {
      throw notWritable(e);
    }
  }

  /**
   * Describes a file that cannot be mapped for writing. The peer may seal a file against writing at
   * any time, or pass a read-only descriptor. Neither is related to the users of the two processes,
   * which the error EPERM suggests.
   */
  private static PosixException notWritable(PosixException e) {
    return e.is(Errno.EPERM, Errno.EACCES)
        ? new PosixException(
            "mmap", "a file that is sealed against writing, or passed read-only", Errno.EINVAL)
        : e;
  }

  /**
   * Maps the file without limits.
   *
   * @param populated how much of it, from its start, must be allocated, and is mapped with its
   *     pages
   * @return the mapping of the whole file
   * @throws PosixException as for {@link #map(Limits, long, long)}
   */
  public SharedMapping map(long populated) {
    return map(Limits.NONE, populated, populated);
  }

  /**
   * Returns a copy of the start of the file.
   *
   * @param length the length in bytes, a multiple of 8
   * @return the copy
   * @throws PosixException as for {@link #map(Limits, long, long)}
   */
  public synchronized MemorySegment read(int length) {
    check(length);
    MemorySegment mapped;
    try {
      mapped =
          SharedMapping.withRoom(
              AddressSpace.OF_PROCESS,
              () -> Posix.mmap(length, Posix.PROT_READ, Posix.MAP_SHARED, fd, describe(length)));
    } catch (PosixException e) {
      throw notWritable(e);
    }
    try {
      return MemorySegment.ofArray(mapped.reinterpret(length).toArray(ValueLayout.JAVA_LONG));
    } finally {
      Posix.munmap(mapped, length);
    }
  }

  /** Checks the file; returns the size. */
  private long check(long allocated) {
    if (closed) {
      throw new IllegalStateException("the descriptor was closed");
    }
    // The seals first: the kernel itself holds them, while every other request on a FUSE file is
    // answered by the file's creator, at a time of its choice. Only memory files have seals. Files
    // of huge pages have seals as well; but where such pages run out, an access raises SIGBUS.
    int seals = Posix.fcntl(fd, Posix.F_GET_SEALS, 0);
    if (seals < 0 || (seals & Posix.F_SEAL_SHRINK) == 0 || !Posix.isInTmpfs(fd)) {
      throw new PosixException("mmap", "a file whose size is not sealed", Errno.EINVAL);
    }
    FileStatus status = Posix.fstat(fd);
    if (status.size() < allocated || status.allocated() < allocated) {
      throw new PosixException(
          "mmap",
          "a file of "
              + status.size()
              + " bytes, of which "
              + status.allocated()
              + " are allocated, out of a required "
              + allocated,
          Errno.EINVAL);
    }
    return status.size();
  }

  /** {@return the descriptor, which is not closed while this is locked; or -1 if it is closed} */
  public int fd() {
    return closed ? -1 : fd;
  }

  /** Closes the descriptor; mappings stay. Closing again has no effect. */
  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      if (isInMemory) {
        Posix.close(fd);
      } else {
        DescriptorCloser.close(fd);
      }
    }
  }
}
