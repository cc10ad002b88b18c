// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.FerruleException;
import dev.ferrule.InvalidAddressException;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.posix.Errno;
import dev.ferrule.posix.EventDescriptor;
import dev.ferrule.posix.FileSystemStatus;
import dev.ferrule.posix.Posix;
import dev.ferrule.posix.PosixException;
import dev.ferrule.sm.endpoint.SmAddress;
import dev.ferrule.sm.os.OwnDirectory;
import dev.ferrule.support.ReadinessDescriptor;
import java.io.IOException;
import java.net.URI;
import java.nio.file.AccessDeniedException;
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
    return exhausted(uri, e, "; raise the JVM's limit, such as that of the heap (-Xmx)");
  }

  static FerruleException of(URI uri, PosixException e) {
    return switch (e.errno()) {
      case Errno.EFBIG ->
          e.function().equals("mmap")
              ? new ResourceExhaustedException(uri, tooLarge(e), e)
              : exhausted(uri, e, "; raise the limit of the size of files (ulimit -f)");
      case Errno.EDQUOT ->
          exhausted(uri, e, "; this user's quota there is used up: remove files, or raise it");
      case Errno.ENOSPC ->
          e.function().equals("epoll_ctl")
              ? exhausted(uri, e, "; raise fs.epoll.max_user_watches")
              : full(uri, e);
      case Errno.EMFILE, Errno.ENFILE -> exhausted(uri, e, DESCRIPTORS);
      case Errno.ENOMEM, Errno.EAGAIN ->
          exhausted(
              uri,
              e,
              "; free memory, raise vm.max_map_count or the option maxMapped, or use less memory"
                  + " (options buffer, maxMessage, ring, allocatable)");
      case Errno.ENAMETOOLONG ->
          invalid(
              uri,
              e,
              "; a Unix domain socket's path has at most 107 bytes, so use a shorter directory");
      case Errno.EACCES, Errno.EPERM, Errno.EROFS -> denied(uri, e);
      case Errno.ENOENT ->
          invalid(
              uri,
              e,
              "; no file can be created there; choose another directory, such as one in /dev/shm");
      case Errno.EEXIST ->
          invalid(uri, e, ", not created by Ferrule; remove it or use another path");
      default -> new FerruleException(uri, String.valueOf(e.getMessage()), e);
    };
  }

  private static FerruleException exhausted(URI uri, Throwable e, String fix) {
    return new ResourceExhaustedException(uri, e.getMessage() + fix, e);
  }

  private static FerruleException invalid(URI uri, Throwable e, String fix) {
    return new InvalidAddressException(uri, e.getMessage() + fix, e);
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
      return denied(uri, e);
    }
    if (e instanceof NotDirectoryException) {
      return invalid(uri, e, " is a file, not a directory; use another path");
    }
    // NIO has no exception classes for ENOSPC, EMFILE and ENFILE
    String message = String.valueOf(e.getMessage());
    if (message.contains("No space left")) {
      return full(uri, e);
    }
    if (message.contains("Too many open files")) {
      return exhausted(uri, e, DESCRIPTORS);
    }
    return new FerruleException(uri, e.getClass().getSimpleName() + ": " + message, e);
  }

  /** The files of an endpoint are small, and the shared memory is in no file system. */
  private static FerruleException full(URI uri, Exception e) {
    return exhausted(
        uri,
        e,
        "; " + fileSystem(uri) + ": remove files there, enlarge it, or use another directory");
  }

  /** Returns what is free in the file system of the directory. */
  private static String fileSystem(URI uri) {
    Path place = existing(SmAddress.parse(uri).base());
    try {
      FileSystemStatus status = Posix.statfs(place.toString());
      return "the file system of %s has %s free%s"
          .formatted(
              place,
              size(status.free()),
              status.freeFiles() == Long.MAX_VALUE
                  ? ""
                  : ", and room for %d files (inodes)".formatted(status.freeFiles()));
    } catch (PosixException e) {
      return "the file system of " + place + " is full";
    }
  }

  /** Returns the nearest existing parent: PATH was removed again if it remained empty. */
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

  private static FerruleException denied(URI uri, Exception e) {
    return new InvalidAddressException(
        uri,
        ("permission denied: %s; choose a directory that this user may write to, and run both"
                + " processes as the same user, or with access=group%s")
            .formatted(e.getMessage(), hintAtOthers(uri)),
        e);
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
            ". %s is owned by user id %s, possibly created first; %s"
                .formatted(base, user, OwnDirectory.suggestion()))
        .orElse("");
  }
}
