// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.posix.DatagramSocket;
import dev.ferrule.posix.EventPoll;
import dev.ferrule.posix.Fifo;
import dev.ferrule.posix.PosixException;
import dev.ferrule.posix.SealedFile;
import dev.ferrule.sm.os.Access;
import dev.ferrule.sm.os.OwnDirectory;
import dev.ferrule.support.Threads;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * An endpoint: a directory with a socket and a FIFO, its incoming and outgoing connections, and one
 * control thread for all of them. It is reference-counted: a listener and each connection {@link
 * #retain retain} it.
 *
 * <p>The thread handles handshake datagrams, FIFO headers, keepalives, and the errors that epoll
 * reports on a peer's FIFO when its reader dies. Messages never pass through it.
 */
public final class Endpoint {

  /** Maximum payload of a handshake message, in bytes. */
  public static final int MAX_PAYLOAD = HandshakeMessage.MAX_PAYLOAD;

  private static final System.Logger LOGGER = System.getLogger(Endpoint.class.getName());

  private static final long SOCKET_KEY = (1L << 32) + 1;
  private static final long FIFO_KEY = (1L << 32) + 2;
  private static final int MAX_DATAGRAMS_AT_ONCE = 64;

  /** At least as many as a socket queues: net.unix.max_dgram_qlen is 512 with systemd, or 10. */
  private static final int MAX_QUEUED_DATAGRAMS = 1024;

  /** Later than any time by System.nanoTime. */
  static final long NEVER = Long.MAX_VALUE;

  /** The pause after a failure that may recur at once. */
  private static final long BACK_OFF_NANOS = 100_000_000;

  /** The longest wait of {@link #awaitDatagrams}. */
  private static final long MAX_WAIT_NANOS = 1_000_000_000;

  /**
   * The last number of a connection, for all endpoints: the next endpoint may have the name of one
   * that was closed, to which answers are still on their way. The first one is random, as the next
   * process may have the PID of a dead one.
   */
  private static final AtomicInteger LAST_NUMBER =
      new AtomicInteger(ThreadLocalRandom.current().nextInt(HandshakeMessage.MAX_ID));

  private final EndpointDirectory directory;
  private final DatagramSocket socket;
  private final DatagramSender sender;
  private final Fifo.Reader fifo;
  private final EventPoll poll;
  private final Thread thread;
  private final Guard guard;
  private final Links links;
  private final Datagrams datagrams;
  private final Map<Integer, ClientHandshake> clientHandshakes = new ConcurrentHashMap<>();
  private volatile @Nullable Acceptor acceptor;
  private volatile boolean stopped;
  private long offersAt = NEVER; // by System.nanoTime; confined to the thread
  private volatile boolean offersChanged;
  private final Object reading = new Object();

  /** All that arrived before is handled; by System.nanoTime; guarded by {@link #reading}. */
  private long readUntil = System.nanoTime();

  private final boolean openToGroup;
  private int retained = 1;

  private Endpoint(
      EndpointDirectory directory,
      DatagramSocket socket,
      DatagramSender sender,
      Fifo.Reader fifo,
      EventPoll poll) {
    this.directory = directory;
    this.socket = socket;
    this.sender = sender;
    this.fifo = fifo;
    this.poll = poll;
    this.guard = new Guard(directory.address());
    this.links = new Links(poll, guard);
    this.datagrams = new Datagrams(this, socket, guard);
    this.openToGroup = OwnDirectory.isOpenToGroup(directory.path());
    thread =
        Thread.ofPlatform()
            .daemon()
            .name("ferrule-sm " + directory.address().endpoint())
            .unstarted(this::run);
  }

  /**
   * Opens an endpoint; the caller retains it.
   *
   * @param address the directory in which to create one, or the exact endpoint to create
   * @param access the users that may use it
   * @return the endpoint; or null if a live endpoint has that address
   * @throws IOException if its directory cannot be created
   * @throws dev.ferrule.posix.PosixException if its files cannot be created
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
    Endpoint endpoint = null;
    try {
      Path path = directory.path();
      OwnDirectory.createOrReuse(path.resolve(EndpointFiles.CONNECTIONS));
      fifo = EndpointFiles.createFifo(path);
      socket = EndpointFiles.bindSocket(path);
      poll = openPoll.get();
      poll.addReadable(socket.fd(), SOCKET_KEY);
      poll.addReadable(fifo.fd(), FIFO_KEY);
      directory.describe(false);
      endpoint = new Endpoint(directory, socket, wrapper.apply(socket::send), fifo, poll);
      LiveEndpoints.add(endpoint);
      endpoint.thread.start();
      return endpoint;
    } catch (Throwable e) {
      if (endpoint != null) {
        LiveEndpoints.remove(endpoint); // there was no memory for its thread
      }
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
    stopped = true;
    poll.wake();
    if (isCurrentThread()) {
      return; // in a close callback; the thread cleans up when it returns to its loop
    }
    Threads.awaitEnd(thread);
  }

  /** {@return whether the current thread is the endpoint's, as in a close callback} */
  public boolean isCurrentThread() {
    return Thread.currentThread() == thread;
  }

  /** Removes only the files, because the JVM is about to exit. */
  void removeFiles() {
    directory.remove();
  }

  /**
   * Returns a number for a new connection, and creates its directory. A process reuses numbers as
   * late as possible, so that a late datagram or header finds no connection instead of a wrong one.
   *
   * @return the number
   * @throws IOException if all numbers are in use
   * @throws dev.ferrule.posix.PosixException if its directory cannot be created
   */
  public synchronized int newConnection() throws IOException {
    for (int attempts = 0; attempts < HandshakeMessage.MAX_ID; attempts++) {
      int id = LAST_NUMBER.updateAndGet(last -> last % HandshakeMessage.MAX_ID + 1);
      if (!links.has(id) && OwnDirectory.create(directoryOf(id), openToGroup)) {
        return id;
      }
    }
    throw new IOException(
        "all " + HandshakeMessage.MAX_ID + " connections of " + address().uri() + " are in use");
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
   * Removes a connection's directory.
   *
   * @param id the connection's number
   */
  public void removeConnection(int id) {
    try {
      EndpointFiles.deleteConnection(directoryOf(id));
    } catch (IOException e) {
      return; // removed with the endpoint's directory at the latest
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
    links.add(id, link, peer, peerTimeout);
  }

  /**
   * Counts the silence of a connection's peer from now on. Until then the timeout of the handshake
   * applies.
   *
   * @param id its number here
   */
  public void established(int id) {
    links.established(id);
  }

  /**
   * Stops serving a connection. Must be called before its peer is closed.
   *
   * @param id its number here
   */
  public void removeLink(int id) {
    links.remove(id);
    Acceptor current = acceptor;
    if (current != null) {
      current.forget(id);
    }
    clientHandshakes.remove(id);
  }

  /** Wakes the endpoint's thread to recompute when an offer is to be repeated. */
  void wakeForOffer() {
    offersChanged = true;
    poll.wake();
  }

  /**
   * Waits until the datagrams that have arrived until now are handled. After this process was
   * stopped for a time, that tells a client that has confirmed from one that has not. The
   * endpoint's own thread does not wait, and no other one waits for more than a second: the
   * endpoint's may be in a close callback that blocks.
   */
  void awaitDatagrams() throws InterruptedException {
    if (!isCurrentThread()) {
      awaitDatagrams(MAX_WAIT_NANOS);
    }
  }

  /** As {@link #awaitDatagrams()}, for a given time at most; returns whether they are handled. */
  boolean awaitDatagrams(long nanos) throws InterruptedException {
    long now = System.nanoTime();
    wakeForOffer();
    synchronized (reading) {
      long left = nanos;
      while (!stopped && readUntil - now < 0 && left > 0) {
        TimeUnit.NANOSECONDS.timedWait(reading, left);
        left = nanos - (System.nanoTime() - now);
      }
      return readUntil - now >= 0;
    }
  }

  /**
   * Has the endpoint's thread write a peer's pending headers as soon as its FIFO has room. Any
   * thread may call this; it takes no lock, and allocates nothing.
   */
  public void onFullFifo() {
    links.onFullFifo();
  }

  /**
   * Starts listening.
   *
   * @param backlog the maximum number of waiting clients
   * @return the acceptor
   * @throws dev.ferrule.posix.PosixException if the lock file cannot be written
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

  private void run() {
    try {
      while (!stopped) {
        try {
          turn();
        } catch (Throwable e) { // the heap is full, as the work itself is guarded
          recover(e);
        }
      }
    } finally {
      cleanUp();
    }
  }

  private void recover(Throwable problem) {
    try {
      links.repeatAll();
      offersChanged = true;
      guard.warn(problem);
      LockSupport.parkNanos(BACK_OFF_NANOS);
    } catch (Throwable e) {
      return; // even to link a method for the first time takes heap
    }
  }

  /** Waits for events, and does what is due. */
  private void turn() {
    int timeoutMs = timeoutMs(Math.min(links.keepalivesAt(), offersAt));
    int events = poll.await(links.isPending() ? 0 : timeoutMs);
    for (int i = 0; i < events && !stopped; i++) {
      long key = poll.key(i);
      boolean broken = poll.isBroken(i);
      guard.run(() -> handle(key, broken));
    }
    links.work();
    if (offersChanged || isDue(offersAt, System.nanoTime())) {
      offersChanged = false;
      offersAt = tickOffers();
    }
  }

  static boolean isDue(long time, long now) {
    return time != NEVER && now - time >= 0;
  }

  private static int timeoutMs(long time) {
    return time == NEVER ? -1 : Math.clamp((time - System.nanoTime()) / 1_000_000 + 1, 0, 60_000);
  }

  private void handle(long key, boolean broken) {
    if (key == SOCKET_KEY) {
      datagrams.read(MAX_DATAGRAMS_AT_ONCE);
    } else if (key == FIFO_KEY) {
      readFifo();
    } else if (key >= 0) {
      links.handle((int) key, broken);
    }
  }

  private void readFifo() {
    int count = fifo.read();
    long now = System.nanoTime();
    // a full FIFO may have rejected a wake-up or a close
    boolean complete = count < Fifo.Reader.BATCH && fifo.isWhole();
    for (int i = 0; i < count; i++) {
      try {
        links.handleHeader(fifo.header(i), now);
      } catch (Throwable e) { // not by guard, for which each header would need an object
        guard.warn(e);
      }
    }
    if (!complete) {
      links.doubt();
    }
  }

  /** Repeats offers, or ends them; returns when the next call is due. */
  private long tickOffers() {
    long now = System.nanoTime();
    guard.run(
        () -> datagrams.read(MAX_QUEUED_DATAGRAMS)); // what arrived before it was too late counts
    Acceptor current = acceptor;
    long next = current == null ? NEVER : current.repeatOffers(now, guard);
    synchronized (reading) {
      readUntil = now;
      reading.notifyAll();
    }
    return next;
  }

  private void cleanUp() {
    synchronized (reading) {
      reading.notifyAll();
    }
    Acceptor current = acceptor;
    if (current != null) {
      guard.run(current::close);
    }
    LiveEndpoints.remove(this);
    directory.remove();
    poll.close();
    socket.close();
    fifo.close();
  }
}
