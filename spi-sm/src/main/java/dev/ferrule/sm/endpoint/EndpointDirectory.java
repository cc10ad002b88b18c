// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.InvalidAddressException;
import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.sm.os.Access;
import dev.ferrule.sm.os.OwnDirectory;
import dev.ferrule.sm.os.OwnerLock;
import dev.ferrule.sm.os.PosixException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * An endpoint's directory {@code PATH/PID/ID}, claimed exclusively by the lock file in it.
 *
 * <p>The lock is the claim: of the directories that Ferrule has made for this user, whoever holds
 * the lock owns the directory and whatever of Ferrule's files is in it; whoever wants a directory
 * tries to lock it. So an endpoint whose process has died, which leaves its files behind but not
 * its lock, is simply taken over, and a live one never. Nor is a directory that somebody else made.
 */
final class EndpointDirectory {

  private static final System.Logger LOGGER = System.getLogger(EndpointDirectory.class.getName());
  private static final Set<Path> WARNED_OF = ConcurrentHashMap.newKeySet();

  private static final int ATTEMPTS = 100;
  private static final int MAX_NUMBER = 65_535;

  /** As long as the other word, so that one can be written over the other. */
  private static final String CLIENT = "client  ";

  /** One more than the kernel's largest process id, and how many other names there are for each. */
  private static final int PID_RANGE = 1 << 22;

  private static final int OTHER_NAMES = 10;

  private final SmAddress address;
  private final Path path;
  private final OwnerLock lock;
  private final AtomicBoolean removed = new AtomicBoolean();

  private EndpointDirectory(SmAddress address, OwnerLock lock) {
    this.address = address;
    this.path = address.directory();
    this.lock = lock;
  }

  /**
   * Claims a new endpoint, below the address's directory if it names no endpoint, and exactly the
   * named one if it does.
   *
   * @param address the address
   * @param access who may use the endpoint
   * @return the endpoint's directory, with nothing of Ferrule's in it but the lock; or null if a
   *     live endpoint has the named one
   * @throws InvalidAddressException if there is a directory of that name that Ferrule did not make
   *     for this user
   * @throws IOException if the directory cannot be made
   * @throws PosixException if the lock cannot be
   */
  static @Nullable EndpointDirectory claim(SmAddress address, Access access) throws IOException {
    createBase(address.base(), access);
    warnOfUnprotected(address.base());
    EndpointScan.sweep(address.base());
    return address.endpoint() == null ? claimAny(address, access) : claimNamed(address, access);
  }

  /** Warns once of each directory in which other users may rename what this one makes. */
  private static void warnOfUnprotected(Path base) {
    Path directory;
    try {
      directory = base.toRealPath();
    } catch (IOException e) {
      return; // removed by another process, as it was empty; it is made again
    }
    for (; directory != null; directory = directory.getParent()) {
      if (OwnDirectory.isUnprotected(directory) && WARNED_OF.add(directory)) {
        LOGGER.log(
            System.Logger.Level.WARNING,
            directory
                + " is writable for all users and has no sticky bit, so any of them can rename or"
                + " remove the files of connections; set it (chmod +t "
                + directory
                + "), or use another directory");
      }
    }
  }

  private static EndpointDirectory claimAny(SmAddress address, Access access) throws IOException {
    long pid = nameOfProcess(address.base());
    for (int number = 1; number <= MAX_NUMBER; number++) {
      SmAddress candidate = address.with(new SmAddress.Id(pid, number));
      Path directory = candidate.directory();
      if (Files.exists(directory, LinkOption.NOFOLLOW_LINKS) && !OwnDirectory.isOwn(directory)) {
        continue; // somebody else's; it may go on being there
      }
      OwnerLock lock = tryClaim(candidate, access);
      if (lock != null) {
        return new EndpointDirectory(candidate, lock);
      }
    }
    throw new IOException(
        "all "
            + MAX_NUMBER
            + " endpoints of process "
            + pid
            + " in "
            + address.base()
            + " are taken");
  }

  /**
   * Our process id, or another number in its place if a process of another user goes by ours, in
   * another PID namespace or since dead. It is but a name.
   */
  private static long nameOfProcess(Path base) {
    long pid = ProcessHandle.current().pid();
    for (long name = pid; name < pid + (long) OTHER_NAMES * PID_RANGE; name += PID_RANGE) {
      Path directory = base.resolve(Long.toString(name));
      if (OwnDirectory.isOwn(directory) || !Files.exists(directory, LinkOption.NOFOLLOW_LINKS)) {
        return name;
      }
    }
    return pid; // and whoever claims it says what is wrong with it
  }

  private static @Nullable EndpointDirectory claimNamed(SmAddress address, Access access)
      throws IOException {
    // somebody who only looks whether the endpoint is stale holds the lock for a moment, too
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      OwnerLock lock = tryClaim(address, access);
      if (lock != null) {
        return new EndpointDirectory(address, lock);
      }
      pause();
    }
    return null;
  }

  private static @Nullable OwnerLock tryClaim(SmAddress address, Access access) throws IOException {
    Path path = address.directory();
    for (int attempt = 0; ; attempt++) {
      try {
        createBase(address.base(), access);
        createOwn(address, path.getParent());
        if (access == Access.GROUP) {
          OwnDirectory.setAccess(path.getParent(), access); // others in it have their own access
        }
        createOwn(address, path);
        return emptied(OwnerLock.tryAcquire(path.resolve(EndpointFiles.LOCK)), path, access);
      } catch (PosixException e) {
        // the former owner removed the directory after we had made sure that it is there
        if (!e.is(LibC.ENOENT()) || attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  private static @Nullable OwnerLock emptied(@Nullable OwnerLock lock, Path path, Access access)
      throws IOException {
    boolean done = false;
    try {
      if (lock != null) {
        EndpointFiles.delete(path);
        // not before, as it may have been a live one's
        OwnDirectory.setAccess(path, access);
        lock.letGroupRead();
      }
      done = true;
      return lock;
    } finally {
      if (!done && lock != null) {
        lock.close();
      }
    }
  }

  /** Makes PATH and what is above it, as far as they are not there; PATH may be anybody's. */
  private static void createBase(Path base, Access access) throws IOException {
    boolean made = createOrFind(base, access);
    if (access == Access.GROUP && (made || OwnDirectory.isOwn(base))) {
      OwnDirectory.makeCommon(base); // or else other users could not have an endpoint there
    }
  }

  private static boolean createOrFind(Path directory, Access access) throws IOException {
    for (int attempt = 0; ; attempt++) {
      try {
        boolean made = OwnDirectory.create(directory);
        if (!made && !Files.isDirectory(directory)) {
          if (!Files.exists(directory, LinkOption.NOFOLLOW_LINKS) && attempt < ATTEMPTS) {
            continue; // it was removed between the two looks
          }
          throw new NotDirectoryException(directory.toString());
        }
        if (made) {
          OwnDirectory.setAccess(directory, access);
        }
        return made;
      } catch (PosixException e) {
        if (!e.is(LibC.ENOENT()) || attempt == ATTEMPTS) {
          throw e; // or else whoever emptied the directory above it has removed it just now
        }
        createOrFind(above(directory), access);
      }
    }
  }

  private static Path above(Path directory) {
    Path parent = directory.getParent();
    return parent == null ? directory : parent;
  }

  /** Makes a directory below PATH if it is not there; the one that is there has to be our own. */
  private static void createOwn(SmAddress address, Path directory) {
    try {
      OwnDirectory.createOrReuse(directory);
    } catch (PosixException e) {
      if (!e.is(LibC.EEXIST())) {
        throw e;
      }
      throw new InvalidAddressException(
          address.uri(),
          directory
              + " is there already, and "
              + OwnDirectory.owner(directory)
                  .map(uid -> "belongs to the user with the id " + uid)
                  .orElse("was not made by Ferrule")
              + "; it is left alone, so name another endpoint or another directory"
              + hintAtOthers(directory),
          e);
    }
  }

  /** Where all users may make directories, any of them can take all names that this one might. */
  private static String hintAtOthers(Path directory) {
    boolean isAnothers =
        OwnDirectory.userOf(directory).filter(user -> user != LibC.geteuid()).isPresent();
    return isAnothers
        ? ". Where other users may make directories, any of them can take all names first: "
            + OwnDirectory.suggestion()
        : "";
  }

  /**
   * Returns the endpoint's address.
   *
   * @return the address
   */
  SmAddress address() {
    return address;
  }

  /** The endpoint's directory. */
  Path path() {
    return path;
  }

  /** Writes into the lock file what the endpoint is, for people and for {@link EndpointScan}. */
  void describe(boolean listening) {
    lock.write(
        (listening ? EndpointScan.LISTENER : CLIENT)
            + " of process "
            + ProcessHandle.current().pid()
            + ", protocol version "
            + HandshakeMessage.VERSION
            + "\n");
  }

  /**
   * Removes the endpoint and gives up the lock. What cannot be removed stays for the next one to
   * reclaim.
   */
  void remove() {
    // twice would be once too often: in between, the address may have become another process's
    if (removed.compareAndSet(false, true)) {
      remove(path, lock);
    }
  }

  /** Removes the endpoint whose lock this process holds. */
  static void remove(Path path, OwnerLock lock) {
    try (lock) {
      EndpointFiles.delete(path);
      Files.deleteIfExists(path.resolve(EndpointFiles.LOCK));
    } catch (IOException e) {
      return;
    }
    // the endpoint's own directory, that of its PID, PATH, and what was made above it
    Path directory = path;
    while (directory != null && OwnDirectory.removeIfEmpty(directory)) {
      directory = directory.getParent();
    }
  }

  private static void pause() {
    try {
      Thread.sleep(2);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
