// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.PosixException;
import dev.ferrule.sm.os.OwnDirectory;
import dev.ferrule.sm.os.OwnerLock;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** Inspects all endpoints of a directory, each of which may belong to another process or user. */
public final class EndpointScan {

  /** The start of the text in a listener's lock file. */
  static final String LISTENER = "listener";

  private static final Pattern CONNECTION = Pattern.compile("\\d{1,7}");

  private EndpointScan() {}

  /**
   * Returns the live listeners of a directory.
   *
   * @param address the directory's address
   * @return their addresses; those of another user only if this user has none and may see them
   * @throws IOException if this user sees no listener for lack of permission
   * @throws PosixException EMFILE, ENFILE or ENOMEM if this process lacks a resource for the search
   */
  public static List<SmAddress> listeners(SmAddress address) throws IOException {
    List<SmAddress> own = new ArrayList<>();
    List<SmAddress> others = new ArrayList<>();
    IOException refusal = null;
    for (Path pid : matching(SmAddress.PID, address.base())) {
      if (OwnDirectory.owner(pid).isEmpty()) {
        continue;
      }
      try {
        for (Path directory : matching(SmAddress.NUMBER, pid)) {
          if (isListener(directory)) {
            (OwnDirectory.isOwn(directory) ? own : others).add(address.with(id(directory)));
          }
        }
      } catch (IOException e) {
        refusal = e;
      }
    }
    if (own.isEmpty() && others.isEmpty() && refusal != null) {
      throw refusal;
    }
    return own.isEmpty() ? others : own;
  }

  private static boolean isListener(Path directory) {
    Path lock = directory.resolve(EndpointFiles.LOCK);
    try {
      return OwnDirectory.owner(directory).isPresent()
          && OwnerLock.read(lock).startsWith(LISTENER)
          && OwnerLock.isHeld(lock);
    } catch (PosixException e) {
      if (e.is(Errno.EMFILE, Errno.ENFILE, Errno.ENOMEM)) {
        throw e; // there may be one that this process could not inspect
      }
      return false; // removed meanwhile
    }
  }

  /**
   * {@return whether an endpoint has a live owner}
   *
   * @param address the endpoint's address
   * @throws PosixException if that cannot be determined, such as EACCES
   */
  public static boolean isLive(SmAddress address) {
    return OwnerLock.isHeld(address.directory().resolve(EndpointFiles.LOCK));
  }

  /**
   * {@return the user id of an endpoint's owner; empty if Ferrule has created no such endpoint}
   *
   * @param address the endpoint's address
   */
  public static Optional<Integer> owner(SmAddress address) {
    return OwnDirectory.owner(address.directory());
  }

  /**
   * Returns all endpoints below an address, which may be that of one.
   *
   * @throws IOException if the directory cannot be read
   */
  static List<SmAddress> endpoints(SmAddress address) throws IOException {
    if (address.endpoint() != null) {
      if (OwnDirectory.owner(address.directory()).isPresent()) {
        return List.of(address);
      }
      checkMayLookInto(address.directory());
      return List.of();
    }
    List<SmAddress> found = new ArrayList<>();
    for (Path pid : matching(SmAddress.PID, address.base())) {
      if (OwnDirectory.owner(pid).isPresent()) {
        for (Path directory : readable(SmAddress.NUMBER, pid).orElse(List.of())) {
          if (OwnDirectory.owner(directory).isPresent()) {
            found.add(address.with(id(directory)));
          }
        }
      } else {
        checkMayLookInto(pid);
      }
    }
    found.sort(
        Comparator.comparing(SmAddress::endpoint, Comparator.nullsFirst(SmAddress.Id.ORDER)));
    return found;
  }

  /** Checks that a directory may be read: an unreadable directory is not an empty one. */
  private static void checkMayLookInto(Path directory) throws IOException {
    try {
      Files.readAttributes(directory, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    } catch (NoSuchFileException e) {
      return; // it does not exist
    }
  }

  /**
   * Returns the directories of other users that hold endpoints and cannot be read, with their
   * users.
   *
   * @throws IOException if the directory itself cannot be read
   */
  static Map<Path, Integer> unreadable(SmAddress address) throws IOException {
    Map<Path, Integer> found = new TreeMap<>();
    if (address.endpoint() == null) {
      for (Path pid : matching(SmAddress.PID, address.base())) {
        OwnDirectory.owner(pid)
            .filter(user -> readable(SmAddress.NUMBER, pid).isEmpty())
            .ifPresent(user -> found.put(pid, user));
      }
    }
    return found;
  }

  /** As {@link #matching}; empty if the directory, which may be another user's, cannot be read. */
  private static Optional<List<Path>> readable(Pattern name, Path directory) {
    try {
      return Optional.of(matching(name, directory));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /**
   * Returns an endpoint's own description, one line; empty if there is none or it is not readable.
   */
  static String description(SmAddress address) {
    try {
      // text behind the first line is the rest of a former owner's longer line
      return OwnerLock.read(address.directory().resolve(EndpointFiles.LOCK))
          .lines()
          .findFirst()
          .orElse("")
          .replaceAll(" +", " ") // the first word is padded, so that all lines are equally long
          .strip();
    } catch (PosixException e) {
      return "";
    }
  }

  /** Returns the directories of an endpoint's connections. */
  static List<Path> connections(SmAddress address) {
    return readable(CONNECTION, address.directory().resolve(EndpointFiles.CONNECTIONS))
        .orElse(List.of());
  }

  /** Removes the endpoints whose owners have died. Files that cannot be removed stay. */
  static void sweep(Path base) {
    try {
      for (Path pid : matching(SmAddress.PID, base)) {
        if (OwnDirectory.isOwn(pid)) {
          for (Path directory : matching(SmAddress.NUMBER, pid)) {
            removeIfStale(directory);
          }
          OwnDirectory.removeIfEmpty(pid);
        }
      }
    } catch (IOException e) {
      return; // another user's
    }
  }

  /** Returns whether this user owns an endpoint and may write to it, and its process has died. */
  static boolean isRemovable(SmAddress address) {
    Path directory = address.directory();
    Path lock = directory.resolve(EndpointFiles.LOCK);
    try {
      return OwnDirectory.isOwn(directory)
          && Files.isWritable(directory)
          && (OwnDirectory.isEmpty(directory)
              || (Files.isRegularFile(lock, LinkOption.NOFOLLOW_LINKS) && !OwnerLock.isHeld(lock)));
    } catch (PosixException e) {
      return false;
    }
  }

  /**
   * Removes an endpoint, but not other files, if its process has died; returns whether it is gone.
   */
  static boolean clean(SmAddress address) {
    Path directory = address.directory();
    removeIfStale(directory);
    if (!Files.exists(directory, LinkOption.NOFOLLOW_LINKS)) {
      OwnDirectory.removeIfEmpty(Objects.requireNonNull(directory.getParent()));
    }
    return !Files.exists(directory.resolve(EndpointFiles.LOCK), LinkOption.NOFOLLOW_LINKS);
  }

  private static void removeIfStale(Path directory) {
    Path lockFile = directory.resolve(EndpointFiles.LOCK);
    try {
      if (!OwnDirectory.isOwn(directory) || OwnDirectory.removeIfEmpty(directory)) {
        return; // a process that is creating it creates it again
      }
      if (!Files.isRegularFile(lockFile, LinkOption.NOFOLLOW_LINKS) || OwnerLock.isHeld(lockFile)) {
        return;
      }
      OwnerLock lock = OwnerLock.tryAcquire(lockFile);
      if (lock != null) {
        EndpointDirectory.remove(directory, lock);
      }
    } catch (PosixException e) {
      return; // removed meanwhile
    }
  }

  private static SmAddress.Id id(Path directory) {
    int last = directory.getNameCount() - 1;
    return SmAddress.Id.of(
        directory.getName(last - 1).toString(), directory.getName(last).toString());
  }

  /** Returns a directory's entries whose name matches a pattern; none if it does not exist. */
  private static List<Path> matching(Pattern name, Path directory) throws IOException {
    List<Path> result = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory, "[0-9]*")) {
      for (Path entry : entries) {
        if (name.matcher(entry.getFileName().toString()).matches()) {
          result.add(entry);
        }
      }
    } catch (NoSuchFileException | NotDirectoryException e) {
      return result;
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    return result;
  }
}
