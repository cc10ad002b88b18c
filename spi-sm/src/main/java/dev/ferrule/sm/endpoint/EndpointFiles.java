// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.posix.DatagramSocket;
import dev.ferrule.posix.Fifo;
import dev.ferrule.posix.FileStatus;
import dev.ferrule.posix.Posix;
import dev.ferrule.posix.PosixException;
import dev.ferrule.sm.os.OwnDirectory;
import dev.ferrule.sm.os.PeerFile;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/**
 * The files of an endpoint's directory, and their deletion by name. A file of any other name is not
 * Ferrule's and stays, as does its directory.
 */
public final class EndpointFiles {

  /** The lock file, whose text describes the endpoint. */
  public static final String LOCK = "lock";

  /** The socket of the handshake. */
  public static final String SOCKET = "sock";

  /** The FIFO for keepalives and wake-ups. */
  public static final String FIFO = "fifo";

  /** The directory with one subdirectory for each connection. */
  public static final String CONNECTIONS = "conns";

  /**
   * In a connection's directory: the size of the memory that it has allocated to receive from, in
   * bytes, as text. The memory itself has no name. Only {@code ferrule ls} reads this file.
   */
  public static final String MEMORY = "memory";

  /** The counters of the connections, once a tool has asked for them: a {@link CountersFile}. */
  public static final String COUNTERS = "counters";

  /** The next version of {@link #COUNTERS}, while it is being written. */
  static final String NEXT_COUNTERS = "counters.next";

  private EndpointFiles() {}

  /** Creates the FIFO of an endpoint, for the users that may enter its directory. */
  static Fifo.Reader createFifo(Path endpoint) {
    Path path = endpoint.resolve(FIFO);
    Fifo.Reader fifo = new Fifo.Reader(path);
    try {
      OwnDirectory.letGroupUse(fifo.fd(), path, FileStatus.FIFO, 020);
      return fifo;
    } catch (Throwable e) {
      fifo.close();
      throw e;
    }
  }

  /**
   * Opens the FIFO of a peer's endpoint.
   *
   * @param endpoint the endpoint's directory, PATH/PID/ID
   * @return its writing end
   * @throws PosixException if that is not possible; ENXIO if it has no reader; ELOOP or ENOTDIR if
   *     it is not a FIFO of the endpoint's user
   */
  public static Fifo.Writer openFifo(Path endpoint) {
    Path path = endpoint.resolve(FIFO);
    return new Fifo.Writer(
        PeerFile.open(path, PeerFile.OF_ENDPOINT, FileStatus.FIFO, Posix.O_WRONLY));
  }

  /** Binds the socket of an endpoint, for the users that may enter its directory. */
  static DatagramSocket bindSocket(Path endpoint) {
    Path path = endpoint.resolve(SOCKET);
    DatagramSocket socket = new DatagramSocket(path);
    try {
      letGroupUse(path);
      return socket;
    } catch (Throwable e) {
      socket.close();
      throw e;
    }
  }

  private static void letGroupUse(Path socket) {
    // the socket's descriptor is not that of the file
    int file = Posix.open(socket.toString(), Posix.O_PATH | Posix.O_NOFOLLOW, 0);
    try {
      OwnDirectory.letGroupUse(file, socket, FileStatus.SOCKET, 020);
    } finally {
      Posix.close(file);
    }
  }

  /**
   * {@return the directory of one of an endpoint's connections}
   *
   * @param endpoint the endpoint's directory
   * @param id the connection's number
   */
  public static Path connection(Path endpoint, int id) {
    return endpoint.resolve(CONNECTIONS).resolve(Integer.toString(id));
  }

  /** Deletes an endpoint's files, except for its lock. */
  static void delete(Path endpoint) throws IOException {
    deleteFile(endpoint.resolve(SOCKET));
    deleteFile(endpoint.resolve(FIFO));
    deleteFile(endpoint.resolve(COUNTERS));
    deleteFile(endpoint.resolve(NEXT_COUNTERS));
    Path connections = endpoint.resolve(CONNECTIONS);
    if (OwnDirectory.isOwn(connections)) {
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(connections)) {
        for (Path entry : entries) {
          deleteConnection(entry);
        }
      } catch (DirectoryIteratorException e) {
        // otherwise the endpoint's thread would end before it has released its other resources
        throw e.getCause();
      }
      OwnDirectory.removeIfEmpty(connections);
    }
  }

  /** Deletes a connection's directory. */
  static void deleteConnection(Path directory) throws IOException {
    if (OwnDirectory.isOwn(directory)) {
      deleteFile(directory.resolve(MEMORY));
      OwnDirectory.removeIfEmpty(directory);
    }
  }

  /** Deletes any file that has the name of one of Ferrule's, but no directory. */
  private static void deleteFile(Path file) throws IOException {
    if (!Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
      Files.deleteIfExists(file);
    }
  }
}
