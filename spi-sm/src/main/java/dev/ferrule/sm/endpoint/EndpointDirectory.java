// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.InvalidAddressException;
import dev.ferrule.posix.Errno;
import dev.ferrule.posix.Posix;
import dev.ferrule.posix.PosixException;
import dev.ferrule.sm.os.Access;
import dev.ferrule.sm.os.OwnDirectory;
import dev.ferrule.sm.os.OwnerLock;
import dev.ferrule.spi.ConnectionSample;
import dev.ferrule.support.Threads;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * An endpoint's directory {@code PATH/PID/ID}, claimed exclusively by the lock file in it.
 *
 * <p>The lock is the claim: the process that holds it owns the directory and Ferrule's files in it.
 * Only directories that Ferrule has created for this user can be claimed. A process that has died
 * leaves its endpoint's files but not its lock, so the endpoint is reclaimed. A live endpoint is
 * never reclaimed.
 */
final class EndpointDirectory {

  private static final System.Logger LOGGER = System.getLogger(EndpointDirectory.class.getName());
  private static final Set<Path> WARNED_OF = ConcurrentHashMap.newKeySet();

  /** The directories of this process, which an orderly exit of the JVM removes. */
  private static final class Claimed {

    static final Set<EndpointDirectory> ALL = ConcurrentHashMap.newKeySet();

    static {
      Runtime.getRuntime()
          .addShutdownHook(
              new Thread(() -> ALL.forEach(EndpointDirectory::remove), "ferrule-sm shutdown"));
    }
  }

  private static final int ATTEMPTS = 100;
  private static final long PAUSE_NANOS = 2_000_000;
  private static final int MAX_NUMBER = 65_535;

  /** Padded to the length of the other word, so that one can overwrite the other. */
  private static final String CLIENT = "client  ";

  private static final int PID_RANGE = 1 << 22; // one more than the kernel's largest process id
  private static final int OTHER_NAMES = 10; // for each process id

  private final SmAddress address;
  private final Path path;
  private final OwnerLock lock;

  private EndpointDirectory(SmAddress address, OwnerLock lock) {
    this.address = address;
    this.path = address.directory();
    this.lock = lock;
    Claimed.ALL.add(this);
  }

  /**
   * Claims a new endpoint: below the address's directory if it names no endpoint, else exactly the
   * named one. Returns its directory, which contains no file of Ferrule's but the lock; null if a
   * live endpoint has that address.
   *
   * @throws InvalidAddressException if there is a directory of that name that Ferrule did not
   *     create for this user
   */
  static @Nullable EndpointDirectory claim(SmAddress address, Access access) throws IOException {
    createBase(address.base(), access);
    warnOfUnprotected(address.base());
    EndpointScan.sweep(address.base());
    return address.endpoint() == null ? claimAny(address, access) : claimNamed(address, access);
  }

  /** Warns once of each directory in which other users may rename this process's files. */
  private static void warnOfUnprotected(Path base) {
    Path directory;
    try {
      directory = base.toRealPath();
    } catch (IOException e) {
      return; // removed by another process because it was empty; it is created again
    }
    for (; directory != null; directory = directory.getParent()) {
      if (OwnDirectory.isUnprotected(directory) && WARNED_OF.add(directory)) {
        LOGGER.log(
            System.Logger.Level.WARNING,
            ("%s is writable by all users and has no sticky bit, so any of them can rename or"
                    + " remove the files of connections; set it (chmod +t %1$s), or use another"
                    + " directory")
                .formatted(directory));
      }
    }
  }

  private static EndpointDirectory claimAny(SmAddress address, Access access) throws IOException {
    long pid = nameOfProcess(address.base());
    for (int number = 1; number <= MAX_NUMBER; number++) {
      SmAddress candidate = address.with(new SmAddress.Id(pid, number));
      Path directory = candidate.directory();
      if (isAnothers(directory)) {
        continue; // left alone
      }
      EndpointDirectory claimed = tryClaim(candidate, access);
      if (claimed != null) {
        return claimed;
      }
    }
    throw new IOException(
        ("the limit of %s endpoints of process %s in %s is reached; close some, or use another"
                + " directory")
            .formatted(MAX_NUMBER, pid, address.base()));
  }

  /**
   * Returns this process's id, or another number in its place if the id's directory belongs to
   * another user's process, which is in another PID namespace or dead. The number is only a name.
   */
  private static long nameOfProcess(Path base) {
    long pid = ProcessHandle.current().pid();
    for (long name = pid; name < pid + (long) OTHER_NAMES * PID_RANGE; name += PID_RANGE) {
      if (!isAnothers(base.resolve(Long.toString(name)))) {
        return name;
      }
    }
    return pid; // claiming it reports the reason
  }

  private static boolean isAnothers(Path directory) {
    return Files.exists(directory, LinkOption.NOFOLLOW_LINKS) && !OwnDirectory.isOwn(directory);
  }

  private static @Nullable EndpointDirectory claimNamed(SmAddress address, Access access)
      throws IOException {
    // a process that only checks whether the endpoint is stale holds the lock briefly, too
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      EndpointDirectory claimed = tryClaim(address, access);
      if (claimed != null) {
        return claimed;
      }
      Threads.pause(PAUSE_NANOS);
    }
    return null;
  }

  private static @Nullable EndpointDirectory tryClaim(SmAddress address, Access access)
      throws IOException {
    Path path = address.directory();
    Path ofProcess = Objects.requireNonNull(path.getParent());
    for (int attempt = 0; ; attempt++) {
      try {
        createBase(address.base(), access);
        createOwn(address, ofProcess);
        if (access == Access.GROUP) {
          OwnDirectory.setAccess(ofProcess, access); // others in it have their own access
        }
        createOwn(address, path);
        OwnerLock lock = OwnerLock.tryAcquire(path.resolve(EndpointFiles.LOCK));
        return lock == null ? null : emptied(address, lock, access);
      } catch (PosixException e) {
        // the former owner removed the directory after it was found to exist
        if (!e.is(Errno.ENOENT) || attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  private static EndpointDirectory emptied(SmAddress address, OwnerLock lock, Access access)
      throws IOException {
    try {
      EndpointFiles.delete(address.directory());
      // not earlier, as it may have belonged to a live endpoint
      OwnDirectory.setAccess(address.directory(), access);
      lock.letGroupRead();
      return new EndpointDirectory(address, lock);
    } catch (Throwable e) {
      lock.close();
      throw e;
    }
  }

  /** Creates PATH and its parents as far as they are missing; any user may own PATH. */
  private static void createBase(Path base, Access access) throws IOException {
    boolean made = createOrFind(base, access);
    if (access == Access.GROUP && (made || OwnDirectory.isOwn(base))) {
      OwnDirectory.makeCommon(base); // otherwise other users could not create an endpoint there
    }
  }

  private static boolean createOrFind(Path directory, Access access) throws IOException {
    for (int attempt = 0; ; attempt++) {
      try {
        boolean made = OwnDirectory.create(directory);
        if (!made && !Files.isDirectory(directory)) {
          if (!Files.exists(directory, LinkOption.NOFOLLOW_LINKS) && attempt < ATTEMPTS) {
            continue; // removed between the two checks
          }
          throw new NotDirectoryException(directory.toString());
        }
        if (made) {
          OwnDirectory.setAccess(directory, access);
        }
        return made;
      } catch (PosixException e) {
        if (!e.is(Errno.ENOENT) || attempt == ATTEMPTS) {
          throw e; // otherwise a concurrent cleaner has just removed it with its parent
        }
        createOrFind(Objects.requireNonNullElse(directory.getParent(), directory), access);
      }
    }
  }

  /** Creates a directory below PATH unless it exists; an existing one must belong to this user. */
  private static void createOwn(SmAddress address, Path directory) {
    try {
      OwnDirectory.createOrReuse(directory);
    } catch (PosixException e) {
      if (!e.is(Errno.EEXIST)) {
        throw e;
      }
      throw new InvalidAddressException(
          address.uri(),
          "%s exists, and %s; use another endpoint or another directory%s"
              .formatted(
                  directory,
                  OwnDirectory.owner(directory)
                      .map(uid -> "is owned by user id " + uid)
                      .orElse("was not created by Ferrule"),
                  hintAtOthers(directory)),
          e);
    }
  }

  /**
   * Returns a hint for a directory in which all users may create directories: any of them can take
   * every name that this process might use.
   */
  private static String hintAtOthers(Path directory) {
    boolean hasOtherUser =
        OwnDirectory.userOf(directory).filter(user -> user != Posix.geteuid()).isPresent();
    return hasOtherUser
        ? ". Where other users may create directories, any of them can take all names first: "
            + OwnDirectory.suggestion()
        : "";
  }

  SmAddress address() {
    return address;
  }

  Path path() {
    return path;
  }

  /** Writes into the lock file what the endpoint is, for users and for {@link EndpointScan}. */
  void describe(boolean listening) {
    lock.write(
        "%s of process %s, protocol version %s\n"
            .formatted(
                listening ? EndpointScan.LISTENER : CLIENT,
                ProcessHandle.current().pid(),
                HandshakeMessage.VERSION));
  }

  /** Writes the counters of the connections, unless the endpoint is removed. */
  synchronized void publish(List<ConnectionSample> samples) throws IOException {
    if (Claimed.ALL.contains(this)) {
      CountersFile.write(path, samples);
    }
  }

  /** Removes the endpoint. Files that cannot be removed stay until they are reclaimed. */
  synchronized void remove() {
    // only once: after the first removal, the address may belong to another process
    if (Claimed.ALL.remove(this)) {
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
    // the endpoint's own directory, that of its PID, PATH, and created parents
    Path directory = path;
    while (directory != null && OwnDirectory.removeIfEmpty(directory)) {
      directory = directory.getParent();
    }
  }
}
