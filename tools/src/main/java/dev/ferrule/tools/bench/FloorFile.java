// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.posix.Posix;
import dev.ferrule.posix.SealedFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The file that a client and a server on one host map for the floor: a page with the {@link
 * CacheLine}, and the {@link BareRing}. It is in memory (memfd_create(2)) and sealed, since an
 * access to a file that the other process has truncated would raise SIGBUS. The server sends its
 * process id and the descriptor. The client maps the file only if it is such a file and belongs to
 * the client's user.
 *
 * @param number the id of the process that has created the file in the upper 32 bits, and its
 *     descriptor in the lower 32 bits
 */
record FloorFile(long number) implements AutoCloseable {

  /** The length of the file. */
  static final long BYTES = BareRing.FILE_OFFSET + BareRing.BYTES;

  private static final Path LINK = Path.of("/memfd:" + SealedFile.NAME + " (deleted)");
  private static final int SEALS = Posix.F_SEAL_SHRINK | Posix.F_SEAL_GROW | Posix.F_SEAL_SEAL;

  /** Creates a file and allocates its memory, so that a lack of memory fails here, not later. */
  static FloorFile create() {
    return of(SealedFile.create(BYTES, BYTES).fd());
  }

  /** Maps a part of a file, which must not end before it, since mapping would extend the file. */
  static MemorySegment map(Path path, long offset, long bytes, Arena arena) throws IOException {
    try (FileChannel channel =
        FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      if (channel.size() < offset + bytes) {
        throw new IOException(path + " is shorter than " + (offset + bytes) + " bytes");
      }
      return channel.map(FileChannel.MapMode.READ_WRITE, offset, bytes, arena);
    }
  }

  /** Returns a path of the file. It exists while the descriptor is open. */
  Path path() {
    return Path.of("/proc/" + (number >>> Integer.SIZE) + "/fd/" + (int) number);
  }

  /**
   * Opens the file, which another process has created, and returns it with a descriptor of this
   * process. Throws unless {@link #create} has created it in a process of this user. It is opened
   * first and then checked, since the other process may replace its descriptor at any time.
   */
  FloorFile open() throws IOException {
    int descriptor = Posix.tryOpen(path().toString(), Posix.O_RDWR | Posix.O_NONBLOCK, 0);
    if (descriptor < 0) {
      throw new IOException(path() + " cannot be opened");
    }
    FloorFile own = of(descriptor);
    try {
      int seals = Posix.fcntl(descriptor, Posix.F_GET_SEALS, 0);
      if (seals < 0
          || (seals & SEALS) != SEALS
          || !Files.readSymbolicLink(own.path()).equals(LINK)
          || !Files.getAttribute(own.path(), "unix:uid").equals(Posix.geteuid())
          || Files.size(own.path()) != BYTES) {
        throw new IOException(path() + " was not created by a server of this user");
      }
      return own;
    } catch (Throwable e) {
      own.close();
      throw e;
    }
  }

  private static FloorFile of(int descriptor) {
    return new FloorFile(ProcessHandle.current().pid() << Integer.SIZE | descriptor);
  }

  /** Closes the descriptor, which must be this process's; mappings stay valid. */
  @Override
  public void close() {
    Posix.close((int) number);
  }
}
