// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.bindings.libc.LibC;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Set;

/**
 * The file that a client and a server of one host map for the floor: a page with the {@link
 * CacheLine} and the {@link BareRing}. The server creates it and sends its random number; both
 * sides make the path from that, so that neither opens a path that its peer has chosen.
 *
 * @param number which file
 */
record FloorFile(long number) implements AutoCloseable {

  private static final String PREFIX = "ferrule-floor-";
  private static final int PAGE_BYTES = 4096;

  /** The length of the file. */
  static final long BYTES = BareRing.FILE_OFFSET + BareRing.BYTES;

  /** Creates a file that only this user may open. */
  static FloorFile create() throws IOException {
    FloorFile file = new FloorFile(new SecureRandom().nextLong());
    try (FileChannel channel =
        FileChannel.open(
            file.path(),
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
      file.fill(channel);
    }
    return file;
  }

  /** Leaves no hole: a full file system is to fail here, and not by SIGBUS. */
  private void fill(FileChannel channel) throws IOException {
    ByteBuffer page = ByteBuffer.allocate(PAGE_BYTES);
    try {
      for (long left = BYTES; left > 0; left -= channel.write(page)) {
        page.clear().limit((int) Math.min(left, PAGE_BYTES));
      }
    } catch (IOException e) {
      close();
      throw e;
    }
  }

  /** Returns where the file is, if there is one of that number on this host. */
  Path path() {
    return FreshAddress.sharedDirectory().resolve(PREFIX + Long.toHexString(number));
  }

  /**
   * Checks that the file is what {@link #create} makes, in a process of this user.
   *
   * @throws IOException if it is not, or there is none
   */
  void check() throws IOException {
    BasicFileAttributes attributes =
        Files.readAttributes(path(), BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    if (!attributes.isRegularFile()
        || attributes.size() != BYTES
        || !Files.getAttribute(path(), "unix:uid", LinkOption.NOFOLLOW_LINKS)
            .equals(LibC.geteuid())) {
      throw new IOException(path() + " is not a file of a server of this user");
    }
  }

  /** Removes the name; those who have the file mapped keep it. */
  @Override
  public void close() {
    try {
      Files.deleteIfExists(path());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
