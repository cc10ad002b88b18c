// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.posix.DatagramSocket;
import dev.ferrule.posix.EventPoll;
import dev.ferrule.posix.Fifo;
import dev.ferrule.posix.PosixException;
import dev.ferrule.posix.SealedFile;
import dev.ferrule.sm.os.Access;
import dev.ferrule.sm.os.OwnDirectory;
import dev.ferrule.spi.ConnectionSample;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * An endpoint: a directory with a socket and a FIFO, its incoming and outgoing connections, and one
 * control thread for all of them, its {@link EndpointLoop}. It is reference-counted: a listener and
 * each connection {@link #retain retain} it. The methods throw a {@link PosixException} if the
 * operating system reports an error.
 *
 * <p><b>Threads:</b> any thread may call.
 */
public final class Endpoint {

  /** Maximum payload of a handshake message, in bytes. */
  public static final int MAX_PAYLOAD = HandshakeMessage.MAX_PAYLOAD;

  private static final System.Logger LOGGER = System.getLogger(Endpoint.class.getName());

  /**
   * The last number of a connection. All endpoints share it: the next endpoint may have the name of
   * a closed one, to which answers are still in flight. The first number is random, because the
   * next process may have the PID of a dead one.
   */
  private static final AtomicInteger LAST_NUMBER =
      new AtomicInteger(ThreadLocalRandom.current().nextInt(HandshakeMessage.MAX_ID));

  private final EndpointDirectory directory;
  private final DatagramSender sender;
  private final EndpointLoop loop;
  private final Map<Integer, ClientHandshake> clientHandshakes = new ConcurrentHashMap<>();
  private volatile @Nullable Acceptor acceptor;
  private final boolean openToGroup;
  private int retained = 1;

  private Endpoint(
      EndpointDirectory directory,
      DatagramSocket socket,
      DatagramSender sender,
      Fifo.Reader fifo,
      EventPoll poll) {
    this.directory = directory;
    this.sender = sender;
    this.openToGroup = OwnDirectory.isOpenToGroup(directory.path());
    this.loop = new EndpointLoop(this, socket, fifo, poll);
  }

  /**
   * Opens an endpoint; the caller retains it.
   *
   * @param address the directory in which to create one, or the exact endpoint to create
   * @param access the users that may use it
   * @return the endpoint; or null if a live endpoint has that address
   * @throws IOException if its directory cannot be created
   */
  public static @Nullable Endpoint open(SmAddress address, Access access) throws IOException {
    return open(address, access, UnaryOperator.identity(), EventPoll::new);
  }

  /**
   * As {@link #open(SmAddress, Access)}, with a layer between the handshake and the socket, and a
   * poll of the caller's.
   */
  static @Nullable Endpoint open(
      SmAddress address,
      Access access,
      UnaryOperator<DatagramSender> wrapper,
      Supplier<EventPoll> openPoll)
      throws IOException {
    EndpointDirectory directory = EndpointDirectory.claim(address, access);
    if (directory == null) {
      return null;
    }
    DatagramSocket socket = null;
    Fifo.Reader fifo = null;
    EventPoll poll = null;
    try {
      Path path = directory.path();
      OwnDirectory.createOrReuse(path.resolve(EndpointFiles.CONNECTIONS));
      fifo = EndpointFiles.createFifo(path);
      socket = EndpointFiles.bindSocket(path);
      poll = openPoll.get();
      directory.describe(false);
      Endpoint endpoint = new Endpoint(directory, socket, wrapper.apply(socket::send), fifo, poll);
      endpoint.loop.start();
      return endpoint;
    } catch (Throwable e) {
      if (poll != null) {
        poll.close();
      }
      if (fifo != null) {
        fifo.close();
      }
      if (socket != null) {
        socket.close();
      }
      directory.remove();
      throw e;
    }
  }

  /** {@return the endpoint's address} */
  public SmAddress address() {
    return directory.address();
  }

  /**
   * Adds a reference.
   *
   * @return false if the endpoint is closed
   */
  public synchronized boolean retain() {
    if (retained == 0) {
      return false;
    }
    retained++;
    return true;
  }

  /** Returns whether the endpoint has references. */
  synchronized boolean isOpen() {
    return retained > 0;
  }

  /**
   * Drops the reference of {@link #retain} or {@link #open}. Dropping the last one closes the
   * endpoint and removes its directory.
   */
  public void release() {
    synchronized (this) {
      retained--;
      if (retained > 0) {
        return;
      }
    }
    loop.stop();
  }

  /** {@return whether the current thread is the endpoint's, as in a close callback} */
  public boolean isCurrentThread() {
    return loop.isCurrentThread();
  }

  /** Writes the counters of the connections, for the tool that has asked for them. */
  void publish(List<ConnectionSample> samples) {
    try {
      directory.publish(samples);
    } catch (IOException e) {
      LOGGER.log(System.Logger.Level.DEBUG, "in endpoint " + address().uri(), e);
    }
  }

  /** Removes the endpoint's directory, at the end of its thread. */
  void removeDirectory() {
    directory.remove();
  }

  /**
   * Returns a number for a new connection, and creates its directory. A process reuses numbers as
   * late as possible, so that a late datagram or header finds no connection instead of a wrong one.
   *
   * @return the number
   * @throws IOException if all numbers are in use
   */
  public synchronized int newConnection() throws IOException {
    for (int attempts = 0; attempts < HandshakeMessage.MAX_ID; attempts++) {
      int id = LAST_NUMBER.updateAndGet(last -> last % HandshakeMessage.MAX_ID + 1);
      if (!loop.links().has(id) && OwnDirectory.create(directoryOf(id), openToGroup)) {
        return id;
      }
    }
    throw new IOException(
        "the limit of "
            + HandshakeMessage.MAX_ID
            + " connections of "
            + address().uri()
            + " is reached; close some");
  }

  private Path directoryOf(int connection) {
    return EndpointFiles.connection(directory.path(), connection);
  }

  /**
   * Records the memory that a connection has allocated, for tools that list endpoints. Failure to
   * do so is ignored.
   *
   * @param id the connection's number
   * @param bytes the size of the memory
   */
  public void describeConnection(int id, long bytes) {
    Path file = directoryOf(id).resolve(EndpointFiles.MEMORY);
    try (SeekableByteChannel channel =
        Files.newByteChannel(
            file,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
      channel.write(ByteBuffer.wrap((bytes + "\n").getBytes(StandardCharsets.US_ASCII)));
    } catch (IOException e) {
      LOGGER.log(System.Logger.Level.DEBUG, "in endpoint " + address().uri(), e);
    }
  }

  /**
   * Starts serving a connection.
   *
   * @param id its number here
   * @param link the connection
   * @param peer its peer
   * @param peerTimeout how long the peer may be silent once the connection is {@linkplain
   *     #established established}; zero means forever
   */
  public void addLink(int id, Link link, Peer peer, Duration peerTimeout) {
    loop.links().add(id, link, peer, peerTimeout);
  }

  /** Counts the silence of a connection's peer from now on; called when the handshake has ended. */
  void established(int id) {
    loop.links().established(id);
  }

  /**
   * Stops serving a connection, and removes its directory. Must be called before its peer is
   * closed.
   *
   * @param id its number here
   */
  public void removeConnection(int id) {
    loop.links().remove(id);
    Acceptor current = acceptor;
    if (current != null) {
      current.forget(id);
    }
    clientHandshakes.remove(id);
    try {
      EndpointFiles.deleteConnection(directoryOf(id));
    } catch (IOException e) {
      return; // removed with the endpoint's directory at the latest
    }
  }

  EndpointLoop loop() {
    return loop;
  }

  /**
   * Has the endpoint's thread write a peer's pending headers as soon as its FIFO has room. Any
   * thread may call this; it takes no lock, and allocates nothing.
   */
  public void onFullFifo() {
    loop.links().onFullFifo();
  }

  /**
   * Starts listening.
   *
   * @param backlog the maximum number of waiting clients
   * @return the acceptor
   */
  public Acceptor listen(int backlog) {
    Acceptor result = new Acceptor(this, backlog);
    acceptor = result;
    directory.describe(true);
    return result;
  }

  /** Stops listening. If the lock file cannot be updated, the handshake refuses later clients. */
  void stopListening() {
    try {
      directory.describe(false);
    } catch (PosixException e) {
      LOGGER.log(System.Logger.Level.DEBUG, "in endpoint " + address().uri(), e);
    }
  }

  /**
   * Starts connecting.
   *
   * @param id the connection's number here; its directory contains its ring
   * @param server the listener's address
   * @param payload the program's payload
   * @param memory the file of the memory from which the connection receives, open until there is an
   *     answer
   * @return the handshake
   */
  public ClientHandshake connect(int id, SmAddress server, byte[] payload, SealedFile memory) {
    ClientHandshake handshake = new ClientHandshake(this, id, server, payload, memory);
    clientHandshakes.put(id, handshake);
    return handshake;
  }

  /** Returns the acceptor of a listener's endpoint. */
  @Nullable Acceptor acceptor() {
    return acceptor;
  }

  /** Returns the handshake of a connection of this side; null if it is over. */
  @Nullable ClientHandshake clientHandshake(int id) {
    return clientHandshakes.get(id);
  }

  /** Sends a handshake message to another endpoint of the same directory; returns 0 or -errno. */
  int send(HandshakeMessage message, SmAddress to) {
    return send(message, null, to);
  }

  /** As {@link #send(HandshakeMessage, SmAddress)}, passing a file with the message. */
  int send(HandshakeMessage message, @Nullable SealedFile file, SmAddress to) {
    return sender.send(message.encode(), file, to.directory().resolve(EndpointFiles.SOCKET));
  }
}
