// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.sm.os.OwnDirectory;
import dev.ferrule.sm.os.OwnerLock;
import dev.ferrule.sm.os.PosixException;
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
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** Looks at all endpoints of a directory, of which any may belong to another process or user. */
public final class EndpointScan {

  /** How the text in a listener's lock file begins. */
  static final String LISTENER = "listener";

  private static final Pattern CONNECTION = Pattern.compile("\\d{1,7}");

  private EndpointScan() {}

  /**
   * Finds the live listeners of a directory.
   *
   * @param address the directory's address
   * @return their addresses; another user's only if there is none of this user's, and it may see
   *     them
   * @throws IOException if there are none that this user may see, because it may not look
   * @throws PosixException EMFILE, ENFILE or ENOMEM if this process lacks what it takes to look
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
      if (e.is(LibC.EMFILE(), LibC.ENFILE(), LibC.ENOMEM())) {
        throw e; // there may be one, and this process could not look
      }
      return false; // gone meanwhile
    }
  }

  /**
   * Tells whether an endpoint has a live owner.
   *
   * @param address the endpoint's address
   * @return whether it has
   * @throws PosixException if it cannot be told, such as EACCES
   */
  public static boolean isLive(SmAddress address) {
    return OwnerLock.isHeld(address.directory().resolve(EndpointFiles.LOCK));
  }

  /**
   * Returns whose an endpoint is.
   *
   * @param address the endpoint's address
   * @return the user id; empty if Ferrule has made no such endpoint
   */
  public static OptionalInt owner(SmAddress address) {
    return OwnDirectory.owner(address.directory())
        .map(OptionalInt::of)
        .orElseGet(OptionalInt::empty);
  }

  /**
   * Finds all endpoints below an address.
   *
   * @param address the directory's address, or that of one endpoint
   * @return their addresses
   * @throws IOException if the directory cannot be read
   */
  public static List<SmAddress> endpoints(SmAddress address) throws IOException {
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
        for (Path directory : readable(pid)) {
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

  /** A directory that may not be looked into is not the same as an empty one. */
  private static void checkMayLookInto(Path directory) throws IOException {
    try {
      Files.readAttributes(directory, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    } catch (NoSuchFileException e) {
      return; // there is none
    }
  }

  /**
   * Finds the directories of other users that hold endpoints and may not be read.
   *
   * @param address the directory's address, or that of one endpoint
   * @return each with the id of its user
   * @throws IOException if the directory itself cannot be read
   */
  public static Map<Path, Integer> unreadable(SmAddress address) throws IOException {
    Map<Path, Integer> found = new TreeMap<>();
    if (address.endpoint() == null) {
      for (Path pid : matching(SmAddress.PID, address.base())) {
        OwnDirectory.owner(pid)
            .filter(user -> !isReadable(pid))
            .ifPresent(user -> found.put(pid, user));
      }
    }
    return found;
  }

  private static boolean isReadable(Path pid) {
    try {
      matching(SmAddress.NUMBER, pid);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** The endpoints in a directory of another user's, perhaps: none if it may not be read. */
  private static List<Path> readable(Path pid) {
    try {
      return matching(SmAddress.NUMBER, pid);
    } catch (IOException e) {
      return List.of();
    }
  }

  /**
   * Returns what the owner of an endpoint has said that it is.
   *
   * @param address the endpoint's address
   * @return one line; empty if it has said nothing, or may not be read
   */
  public static String description(SmAddress address) {
    try {
      // what is behind the first line is left of a former owner with a longer one
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

  /**
   * Returns the directories of an endpoint's connections.
   *
   * @param address the endpoint's address
   * @return the directories
   */
  public static List<Path> connections(SmAddress address) {
    try {
      return matching(CONNECTION, address.directory().resolve(EndpointFiles.CONNECTIONS));
    } catch (IOException e) {
      return List.of();
    }
  }

  /** Removes the endpoints of a directory whose owners have died. What may not be removed stays. */
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
      return; // not ours to read
    }
  }

  /**
   * Returns whether {@link #clean} would remove an endpoint.
   *
   * @param address the endpoint's address
   * @return whether it is this user's, its owner has died, and it may be written to
   */
  public static boolean isRemovable(SmAddress address) {
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
   * Removes an endpoint if its owner has died. Files that are not an endpoint's stay, and so does
   * the directory that holds them.
   *
   * @param address the endpoint's address
   * @return whether the endpoint is gone now
   */
  public static boolean clean(SmAddress address) {
    Path directory = address.directory();
    removeIfStale(directory);
    if (!Files.exists(directory, LinkOption.NOFOLLOW_LINKS)) {
      OwnDirectory.removeIfEmpty(directory.getParent());
    }
    return !Files.exists(directory.resolve(EndpointFiles.LOCK), LinkOption.NOFOLLOW_LINKS);
  }

  private static void removeIfStale(Path directory) {
    Path lockFile = directory.resolve(EndpointFiles.LOCK);
    try {
      if (!OwnDirectory.isOwn(directory) || OwnDirectory.removeIfEmpty(directory)) {
        return; // whoever is only just making it makes it again
      }
      if (!Files.isRegularFile(lockFile, LinkOption.NOFOLLOW_LINKS) || OwnerLock.isHeld(lockFile)) {
        return;
      }
      OwnerLock lock = OwnerLock.tryAcquire(lockFile);
      if (lock != null) {
        EndpointDirectory.remove(directory, lock);
      }
    } catch (PosixException e) {
      return; // gone meanwhile
    }
  }

  private static SmAddress.Id id(Path directory) {
    return new SmAddress.Id(
        Long.parseLong(directory.getParent().getFileName().toString()),
        Integer.parseInt(directory.getFileName().toString()));
  }

  /** The entries of a directory that have a name of a kind; none if there is no such directory. */
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
