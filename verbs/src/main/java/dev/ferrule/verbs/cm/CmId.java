// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.cm;

import dev.ferrule.bindings.rdmacm.rdma_addr;
import dev.ferrule.bindings.rdmacm.rdma_cm_id;
import dev.ferrule.bindings.rdmacm.rdma_route;
import dev.ferrule.bindings.verbs.ibv_qp_attr;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.ProtectionDomain;
import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.QueuePairSizes;
import dev.ferrule.verbs.SharedReceiveQueue;
import dev.ferrule.verbs.VerbsContext;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.VerbsLibrary;
import dev.ferrule.verbs.calls.CmCalls;
import dev.ferrule.verbs.calls.RawMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection, or a listener ({@code rdma_cm_id}). What comes of a call is told by the
 * {@link EventChannel}.
 *
 * <p><b>Threads:</b> any thread may call, one at a time; none may while another closes the id.
 */
public final class CmId implements AutoCloseable {

  private static final long ADDRESSES = rdma_cm_id.route$offset() + rdma_route.addr$offset();
  private static final int QP_STATE_INIT = 1;
  private static final int LEVEL_ID = 0;
  private static final int OPTION_REUSE_ADDRESS = 1;
  private static final int OPTION_ACK_TIMEOUT = 3;

  private final VerbsLibrary library;
  private final CmCalls calls;
  private final long address;

  CmId(VerbsLibrary library, long address) {
    this.library = library;
    this.calls = library.cm();
    this.address = address;
  }

  /**
   * Returns the address of the C object, by which events name the id.
   *
   * @return the address of the {@code rdma_cm_id}
   */
  public long address() {
    return address;
  }

  /**
   * Returns the device that the id is bound to.
   *
   * @return the device; empty as long as there is none
   */
  public Optional<VerbsContext> context() {
    long context = RawMemory.getLong(address + rdma_cm_id.verbs$offset());
    return context == 0 ? Optional.empty() : Optional.of(library.context(context));
  }

  /**
   * Binds the id to an address of this host.
   *
   * @param where the address; port 0 lets the system choose one
   * @throws VerbsException EADDRINUSE if another id has it, EADDRNOTAVAIL or ENODEV if no device
   *     serves it
   */
  public void bind(InetSocketAddress where) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment yes = arena.allocateFrom(ValueLayout.JAVA_INT, 1);
      check(
          "rdma_set_option",
          "reuseaddr",
          calls.setOption(address, LEVEL_ID, OPTION_REUSE_ADDRESS, yes));
      check(
          "rdma_bind_addr",
          where.toString(),
          calls.bindAddr(address, SocketAddresses.encode(arena, where)));
    }
  }

  /**
   * Starts to listen.
   *
   * @param backlog how many clients may wait
   * @throws VerbsException if that is not possible; EADDRINUSE if another id listens there
   */
  public void listen(int backlog) {
    check("rdma_listen", "", calls.listen(address, backlog));
  }

  /**
   * Returns the port that the id is bound to.
   *
   * @return the port
   */
  public int port() {
    return Short.reverseBytes(calls.getSrcPort(address)) & 0xffff;
  }

  /**
   * Returns the address of this host that the id is bound to.
   *
   * @return the address; empty if there is none yet
   */
  public Optional<InetSocketAddress> localAddress() {
    return SocketAddresses.decode(address + ADDRESSES + rdma_addr.src_addr$offset());
  }

  /**
   * Returns the address of the peer.
   *
   * @return the address; empty if there is none yet
   */
  public Optional<InetSocketAddress> peerAddress() {
    return SocketAddresses.decode(address + ADDRESSES + rdma_addr.dst_addr$offset());
  }

  /**
   * Starts to find the device that reaches an address: {@link CmEvent.Type#ADDRESS_RESOLVED} or
   * {@link CmEvent.Type#ADDRESS_ERROR} follows.
   *
   * @param destination the peer's address
   * @param timeoutMillis how long that may take
   * @throws VerbsException ENODEV if no device does
   */
  public void resolveAddress(InetSocketAddress destination, int timeoutMillis) {
    try (Arena arena = Arena.ofConfined()) {
      check(
          "rdma_resolve_addr",
          destination.toString(),
          calls.resolveAddr(address, SocketAddresses.encode(arena, destination), timeoutMillis));
    }
  }

  /**
   * Starts to find the route: {@link CmEvent.Type#ROUTE_RESOLVED} or {@link
   * CmEvent.Type#ROUTE_ERROR} follows.
   *
   * @param timeoutMillis how long that may take
   * @throws VerbsException if the address is not resolved
   */
  public void resolveRoute(int timeoutMillis) {
    check("rdma_resolve_route", "", calls.resolveRoute(address, timeoutMillis));
  }

  /**
   * Sets how long the device waits for an acknowledgement before it repeats a message. To be called
   * before connecting or accepting.
   *
   * @param exponent 4.096 µs times two to the power of this, 0 to 31
   * @return whether the library knows the option
   */
  public boolean setAckTimeout(int exponent) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocateFrom(ValueLayout.JAVA_BYTE, (byte) exponent);
      return calls.setOption(address, LEVEL_ID, OPTION_ACK_TIMEOUT, value) >= 0;
    }
  }

  /**
   * Makes the id's queue pair, ready to have receives posted.
   *
   * @param domain the protection domain
   * @param sizes what it has to be good for; the device may round up
   * @param sends where its sends complete
   * @param receives where its receives complete
   * @param shared where its receives come from; null for a queue of its own
   * @return the queue pair, destroyed by {@link #destroyQueuePair}
   * @throws VerbsException if the device cannot
   */
  public QueuePair createQueuePair(
      ProtectionDomain domain,
      QueuePairSizes sizes,
      CompletionQueue sends,
      CompletionQueue receives,
      @Nullable SharedReceiveQueue shared) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = QueuePair.describe(arena, sizes, sends, receives, shared);
      check(
          "rdma_create_qp",
          sizes.toString(),
          calls.createQp(address, domain.address(), attributes));
      return new QueuePair(
          domain.context(),
          RawMemory.getLong(address + rdma_cm_id.qp$offset()),
          QueuePair.sizes(attributes));
    }
  }

  /**
   * Tells whether an id that came with a connect request can still be accepted. The kernel tells of
   * a client that gives up only once it is accepted.
   *
   * @return whether the client still waits
   */
  public boolean isAcceptable() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = ibv_qp_attr.allocate(arena);
      ibv_qp_attr.qp_state(attributes, QP_STATE_INIT);
      MemorySegment mask = arena.allocate(ValueLayout.JAVA_INT);
      return calls.initQpAttr(address, attributes, mask) >= 0;
    }
  }

  /** Destroys the id's queue pair. */
  public void destroyQueuePair() {
    calls.destroyQp(address);
  }

  /**
   * Starts to connect: {@link CmEvent.Type#ESTABLISHED}, {@link CmEvent.Type#REJECTED}, {@link
   * CmEvent.Type#UNREACHABLE} or {@link CmEvent.Type#CONNECT_ERROR} follows.
   *
   * @param parameters what the connection is to be like
   * @throws VerbsException if the route is not resolved, or the device cannot
   */
  public void connect(ConnectionParameters parameters) {
    try (Arena arena = Arena.ofConfined()) {
      check("rdma_connect", "", calls.connect(address, parameters.encode(arena)));
    }
  }

  /**
   * Accepts a client: {@link CmEvent.Type#ESTABLISHED} follows, or an error.
   *
   * @param parameters what the connection is to be like
   * @throws VerbsException if the client has gone, or the device cannot
   */
  public void accept(ConnectionParameters parameters) {
    try (Arena arena = Arena.ofConfined()) {
      check("rdma_accept", "", calls.accept(address, parameters.encode(arena)));
    }
  }

  /**
   * Turns a client away.
   *
   * @param privateData why, at most {@link ConnectionParameters#MAX_REJECT_DATA} bytes
   * @throws IllegalArgumentException if there is more of it
   * @throws VerbsException if the client has gone
   */
  public void reject(byte[] privateData) {
    if (privateData.length > ConnectionParameters.MAX_REJECT_DATA) {
      throw new IllegalArgumentException(
          "private data of "
              + privateData.length
              + " bytes; at most "
              + ConnectionParameters.MAX_REJECT_DATA
              + " fit");
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment data = arena.allocateFrom(ValueLayout.JAVA_BYTE, privateData);
      check("rdma_reject", "", calls.reject(address, data, privateData.length));
    }
  }

  /**
   * Ends the connection and flushes the queue pair. {@link CmEvent.Type#DISCONNECTED} follows, at
   * once for the peer, and here when the peer has disconnected in return or does not answer for a
   * long time.
   *
   * @return 0; below 0 if it was not connected
   */
  public int disconnect() {
    return calls.disconnect(address);
  }

  /** Destroys the id; its queue pair has to be destroyed before. */
  @Override
  public void close() {
    check("rdma_destroy_id", "", calls.destroyId(address));
  }

  private static void check(String function, String subject, int result) {
    if (result < 0) {
      throw new VerbsException(function, subject, -result);
    }
  }
}
