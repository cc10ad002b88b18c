// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.FerruleException;
import dev.ferrule.InvalidAddressException;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.posix.Errno;
import dev.ferrule.posix.EventDescriptor;
import dev.ferrule.posix.Posix;
import dev.ferrule.posix.PosixException;
import dev.ferrule.sm.endpoint.SmAddress;
import dev.ferrule.sm.os.OwnDirectory;
import dev.ferrule.support.ReadinessDescriptor;
import java.io.IOException;
import java.net.URI;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;

/** Converts errors of the operating system to exceptions that include the fix. */
final class Failures {

  private static final String DESCRIPTORS =
      "; a connection takes a few descriptors, so raise the limit (ulimit -n)";

  private Failures() {}

  /** Opens a descriptor for the readiness of a connection or listener. */
  static ReadinessDescriptor.Event openEvent(URI uri) {
    try {
      EventDescriptor event = new EventDescriptor();
      return new ReadinessDescriptor.Event(event.number(), event::setReadable, event::close);
    } catch (PosixException e) {
      throw of(uri, e);
    }
  }

  static FerruleException of(URI uri, OutOfMemoryError e) {
    return new ResourceExhaustedException(
        uri, e.getMessage() + "; raise the JVM's limit, such as that of the heap (-Xmx)", e);
  }

  static FerruleException of(URI uri, PosixException e) {
    if (e.is(Errno.EFBIG)) {
      return new ResourceExhaustedException(
          uri,
          e.function().equals("mmap")
              ? tooLarge(e)
              : e.getMessage() + "; raise the limit of the size of files (ulimit -f)",
          e);
    }
    if (e.is(Errno.ENOSPC, Errno.EDQUOT)) {
      return new ResourceExhaustedException(uri, full(uri, e), e);
    }
    if (e.is(Errno.EMFILE, Errno.ENFILE)) {
      return new ResourceExhaustedException(uri, e.getMessage() + DESCRIPTORS, e);
    }
    if (e.is(Errno.ENOMEM, Errno.EAGAIN)) {
      return new ResourceExhaustedException(
          uri,
          e.getMessage()
              + "; free memory, raise vm.max_map_count or the option maxMapped, or use less memory (options buffer, maxMessage, ring, allocatable)",
          e);
    }
    if (e.is(Errno.ENAMETOOLONG)) {
      return new InvalidAddressException(
          uri,
          e.getMessage()
              + "; a Unix domain socket's path has at most 107 bytes, so use a shorter directory",
          e);
    }
    if (e.is(Errno.EACCES, Errno.EPERM, Errno.EROFS)) {
      return new InvalidAddressException(uri, denied(uri, e), e);
    }
    if (e.is(Errno.ENOENT)) {
      return new InvalidAddressException(
          uri,
          e.getMessage()
              + "; no file can be created there; choose another directory, such as one in /dev/shm",
          e);
    }
    if (e.is(Errno.EEXIST)) {
      return new InvalidAddressException(
          uri, e.getMessage() + ", not created by Ferrule; remove it or use another path", e);
    }
    return new FerruleException(uri, String.valueOf(e.getMessage()), e);
  }

  /** Describes memory of a peer that is larger than this side permits. */
  static String tooLarge(PosixException e) {
    return e.getMessage()
        + "; raise the options maxPeerMemory and maxMapped, or use less memory at the peer (options"
        + " allocatable, buffer, rmaBuffer)";
  }

  /** Describes memory of a client that is larger than the listener permits, for the client. */
  static String tooLargeForListener(PosixException e) {
    return "this client's memory is larger than the listener permits: "
        + e.getMessage()
        + "; lower the client's options allocatable, buffer or rmaBuffer, or raise the listener's"
        + " maxPeerMemory and maxMapped";
  }

  static FerruleException of(URI uri, IOException e) {
    if (e instanceof AccessDeniedException) {
      return new InvalidAddressException(uri, denied(uri, e), e);
    }
    if (e instanceof NotDirectoryException) {
      return new InvalidAddressException(
          uri, e.getMessage() + " is a file, not a directory; use another path", e);
    }
    // NIO has no exception classes for ENOSPC, EMFILE and ENFILE
    String message = String.valueOf(e.getMessage());
    if (message.contains("No space left")) {
      return new ResourceExhaustedException(uri, full(uri, e), e);
    }
    if (message.contains("Too many open files")) {
      return new ResourceExhaustedException(uri, message + DESCRIPTORS, e);
    }
    return new FerruleException(uri, e.getClass().getSimpleName() + ": " + e.getMessage(), e);
  }

  private static String full(URI uri, Exception e) {
    return e.getMessage()
        + "; "
        + fileSystem(uri)
        + ": free space there, enlarge it (mount -o remount,size=SIZE; for a container's own"
        + " /dev/shm, docker run --shm-size=SIZE; for a volume, docker volume create --opt"
        + " o=size=SIZE), or use smaller buffers (options buffer, maxMessage, ring, rmaBuffer)";
  }

  /** Names the file system of the shared memory, and its size. */
  private static String fileSystem(URI uri) {
    try {
      Path place = existing(SmAddress.parse(uri).base());
      FileStore store = Files.getFileStore(place);
      for (Path above = place.getParent();
          above != null && Files.getFileStore(above).equals(store);
          above = above.getParent()) {
        place = above;
      }
      return "the "
          + store.type()
          + " at "
          + place
          + " has "
          + size(store.getTotalSpace())
          + ", of which "
          + size(store.getUsableSpace())
          + " are free";
    } catch (IOException e) {
      return "the file system that holds the shared memory is full";
    }
  }

  /**
   * Returns the nearest existing parent directory: PATH was removed again if nothing could be
   * created in it.
   */
  private static Path existing(Path path) {
    Path place = path;
    for (Path above = path.getParent();
        above != null && !Files.exists(place);
        above = above.getParent()) {
      place = above;
    }
    return place;
  }

  private static String size(long bytes) {
    return bytes < 10 << 20 ? (bytes >> 10) + " KiB" : (bytes >> 20) + " MiB";
  }

  private static String denied(URI uri, Exception e) {
    return "permission denied: "
        + e.getMessage()
        + "; choose a directory that this user may write to, and run both processes as the same"
        + " user, or with access=group"
        + hintAtOthers(uri);
  }

  /**
   * Returns a hint for a directory that is writable by all users, in which another user may have
   * created PATH first.
   */
  private static String hintAtOthers(URI uri) {
    Path base = SmAddress.parse(uri).base();
    return OwnDirectory.userOf(base)
        .filter(user -> user != Posix.geteuid() && !Files.isWritable(base))
        .map(user ->
            ". "
                + base
                + " is owned by user id "
                + user
                + ", possibly created first; "
                + OwnDirectory.suggestion())
        .orElse("");
  }
}
