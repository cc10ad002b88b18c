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
 * CacheLine}, and the {@link BareRing}. The server creates it and sends its random number. Both
 * sides derive the path from that, so neither opens a path chosen by its peer.
 *
 * @param number the file's number
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

  /**
   * Fills the file: on a full file system this fails, where a sparse file would raise SIGBUS later.
   */
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

  /** Returns the path of the file of that number on this host. */
  Path path() {
    return FreshAddress.sharedDirectory().resolve(PREFIX + Long.toHexString(number));
  }

  /**
   * Checks that the file is one that {@link #create} makes, in a process of this user.
   *
   * @throws IOException if it is not, or does not exist
   */
  void check() throws IOException {
    BasicFileAttributes attributes =
        Files.readAttributes(path(), BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    if (!attributes.isRegularFile()
        || attributes.size() != BYTES
        || !Files.getAttribute(path(), "unix:uid", LinkOption.NOFOLLOW_LINKS)
            .equals(LibC.geteuid())) {
      throw new IOException(path() + " was not created by a server of this user");
    }
  }

  /** Unlinks the file; existing mappings stay valid. */
  @Override
  public void close() {
    try {
      Files.deleteIfExists(path());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
