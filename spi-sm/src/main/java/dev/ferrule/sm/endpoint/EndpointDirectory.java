// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.bindings.libc.LibC;
import dev.ferrule.sm.os.OwnDirectory;
import dev.ferrule.sm.os.OwnerLock;
import dev.ferrule.sm.os.PosixException;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An endpoint's directory {@code PATH/PID/ID}, claimed exclusively by the lock file in it.
 *
 * <p>The lock is the claim: whoever holds it owns the directory, whatever is in it; whoever wants a
 * directory tries to lock it. So an endpoint whose process has died, which leaves its files behind
 * but not its lock, is simply taken over, and a live one never.
 */
public final class EndpointDirectory {

  /** The lock file, whose text says what the endpoint is. */
  public static final String LOCK = "lock";

  /** The socket of the handshake. */
  public static final String SOCKET = "sock";

  /** The FIFO for keepalives and wake-ups. */
  public static final String FIFO = "fifo";

  /** The directory with one subdirectory for each connection. */
  public static final String CONNECTIONS = "conns";

  /** In a connection's directory: the header ring. */
  public static final String RING = "ring";

  /** In a connection's directory: the payload lines. */
  public static final String BUFFER = "buffer";

  private static final String LISTENER = "listener";
  private static final int ATTEMPTS = 100;
  private static final int MAX_NUMBER = 65_535;

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
   * @return the endpoint's directory, with nothing in it but the lock; or null if a live endpoint
   *     has the named one
   * @throws IOException if the directory cannot be made
   * @throws PosixException if the lock cannot be
   */
  static @Nullable EndpointDirectory claim(SmAddress address) throws IOException {
    createDirectories(address.base());
    sweep(address.base());
    if (address.endpoint() != null) {
      // somebody who only looks whether the endpoint is stale holds the lock for a moment, too
      for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        OwnerLock lock = tryClaim(address);
        if (lock != null) {
          return new EndpointDirectory(address, lock);
        }
        pause();
      }
      return null;
    }
    long pid = ProcessHandle.current().pid();
    for (int number = 1; number <= MAX_NUMBER; number++) {
      SmAddress candidate = address.with(new SmAddress.Id(pid, number));
      OwnerLock lock = tryClaim(candidate);
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

  private static @Nullable OwnerLock tryClaim(SmAddress address) throws IOException {
    Path path = address.directory();
    for (int attempt = 0; ; attempt++) {
      try {
        createDirectories(path);
        OwnerLock lock = OwnerLock.tryAcquire(path.resolve(LOCK));
        if (lock != null) {
          clear(path);
        }
        return lock;
      } catch (PosixException e) {
        // the former owner removed the directory after we had made sure that it is there
        if (!e.is(LibC.ENOENT()) || attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  /** Makes a directory and those above it, for the owner only, as far as they are not there. */
  private static void createDirectories(Path directory) throws IOException {
    for (int attempt = 0; ; attempt++) {
      try {
        if (!OwnDirectory.create(directory) && !Files.isDirectory(directory)) {
          if (!Files.exists(directory) && attempt < ATTEMPTS) {
            continue; // it was removed between the two looks
          }
          throw new NotDirectoryException(directory.toString());
        }
        return;
      } catch (PosixException e) {
        if (!e.is(LibC.ENOENT()) || attempt == ATTEMPTS) {
          throw e;
        }
        createDirectories(directory.getParent());
      }
    }
  }

  /**
   * Finds the live listeners of a directory.
   *
   * @param address the directory's address
   * @return their addresses
   */
  public static List<SmAddress> listeners(SmAddress address) {
    List<SmAddress> result = new ArrayList<>();
    for (SmAddress.Id id : endpoints(address.base())) {
      SmAddress candidate = address.with(id);
      Path lock = candidate.directory().resolve(LOCK);
      try {
        if (Files.readString(lock).startsWith(LISTENER) && OwnerLock.isHeld(lock)) {
          result.add(candidate);
        }
      } catch (IOException | PosixException e) {
        continue; // gone meanwhile, or another user's
      }
    }
    return result;
  }

  /**
   * Returns whose an endpoint is.
   *
   * @param address the endpoint's address
   * @return the user id
   * @throws IOException if there is no such directory
   */
  public static int owner(SmAddress address) throws IOException {
    return (int) Files.getAttribute(address.directory(), "unix:uid");
  }

  /**
   * Tells whether an endpoint has a live owner.
   *
   * @param address the endpoint's address
   * @return whether it has
   * @throws PosixException if it cannot be told, such as EACCES
   */
  public static boolean isLive(SmAddress address) {
    return OwnerLock.isHeld(address.directory().resolve(LOCK));
  }

  /** Removes the endpoints of a directory whose owners have died. What may not be removed stays. */
  private static void sweep(Path base) {
    for (SmAddress.Id id : endpoints(base)) {
      Path path = new SmAddress(base, id).directory();
      Path lockFile = path.resolve(LOCK);
      try {
        if (!Files.exists(lockFile) || OwnerLock.isHeld(lockFile)) {
          continue; // without a lock file it is only just being made
        }
        OwnerLock lock = OwnerLock.tryAcquire(lockFile);
        if (lock != null) {
          remove(path, lock);
        }
      } catch (PosixException e) {
        continue; // another user's, or gone meanwhile; whoever may remove it will
      }
    }
  }

  private static List<SmAddress.Id> endpoints(Path base) {
    List<SmAddress.Id> result = new ArrayList<>();
    for (Path pid : named(SmAddress.PID, base)) {
      for (Path number : named(SmAddress.NUMBER, pid)) {
        result.add(
            new SmAddress.Id(
                Long.parseLong(pid.getFileName().toString()),
                Integer.parseInt(number.getFileName().toString())));
      }
    }
    return result;
  }

  private static List<Path> named(Pattern name, Path directory) {
    List<Path> result = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory, "[0-9]*")) {
      for (Path entry : entries) {
        if (name.matcher(entry.getFileName().toString()).matches()) {
          result.add(entry);
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      return result; // not there, or not ours to read
    }
    return result;
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

  /** The directory of one of the endpoint's connections. */
  static Path connection(Path endpoint, int id) {
    return endpoint.resolve(CONNECTIONS).resolve(Integer.toString(id));
  }

  /** Writes into the lock file what the endpoint is, for people and for {@link #listeners}. */
  void describe(boolean listening) {
    lock.write(
        (listening ? LISTENER : "client")
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

  private static void remove(Path path, OwnerLock lock) {
    try {
      clear(path);
      Files.deleteIfExists(path.resolve(LOCK));
    } catch (IOException e) {
      lock.close();
      return;
    }
    lock.close();
    // the endpoint's own directory, that of its PID, PATH, and what was made above it
    Path directory = path;
    while (directory != null && OwnDirectory.removeIfEmpty(directory)) {
      directory = directory.getParent();
    }
  }

  /** Deletes everything in an endpoint's directory but the lock. */
  private static void clear(Path path) throws IOException {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
      for (Path entry : entries) {
        if (!entry.getFileName().toString().equals(LOCK)) {
          deleteTree(entry);
        }
      }
    }
  }

  /** Deletes a file or a directory with all that is in it, without following links. */
  static void deleteTree(Path path) throws IOException {
    if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
        for (Path entry : entries) {
          deleteTree(entry);
        }
      } catch (NoSuchFileException e) {
        return;
      }
    }
    try {
      Files.deleteIfExists(path);
    } catch (FileSystemException e) {
      if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
        throw e;
      }
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
