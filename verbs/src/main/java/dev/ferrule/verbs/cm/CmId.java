// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.cm;

import dev.ferrule.posix.RawMemory;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.ProtectionDomain;
import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.QueuePairSizes;
import dev.ferrule.verbs.SharedReceiveQueue;
import dev.ferrule.verbs.VerbsContext;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.VerbsLibrary;
import dev.ferrule.verbs.calls.CmCalls;
import dev.ferrule.verbs.libibverbs.ibv_qp_attr;
import dev.ferrule.verbs.librdmacm.rdma_addr;
import dev.ferrule.verbs.librdmacm.rdma_cm_id;
import dev.ferrule.verbs.librdmacm.rdma_route;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An endpoint of a connection, or a listener ({@code rdma_cm_id}). The {@link EventChannel} reports
 * the outcome of asynchronous calls.
 *
 * <p><b>Threads:</b> one thread at a time calls; no thread calls while another closes the id.
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

  /** {@return the address of the {@code rdma_cm_id}, as in {@link CmEvent#id()}} */
  public long address() {
    return address;
  }

  /** {@return the device that the id is bound to; empty if the id is not bound to one yet} */
  public Optional<VerbsContext> context() {
    long context = RawMemory.getLong(address + rdma_cm_id.verbs$offset());
    return context == 0 ? Optional.empty() : Optional.of(library.context(context));
  }

  /**
   * Binds the id to an address of this host.
   *
   * @param where the address; for port 0 the system chooses a port
   * @throws VerbsException EADDRINUSE if another id has the address, EADDRNOTAVAIL or ENODEV if no
   *     device has it
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
          text(where),
          calls.bindAddr(address, SocketAddresses.encode(arena, where)));
    }
  }

  /** Returns HOST/ADDRESS:PORT, or ADDRESS:PORT if the host is not known. */
  private static String text(InetSocketAddress where) {
    String text = where.toString();
    return text.startsWith("/") ? text.substring(1) : text;
  }

  /**
   * Listens for connect requests.
   *
   * @param backlog the backlog of connect requests
   * @throws VerbsException if listening fails; EADDRINUSE if another id listens on the port
   */
  public void listen(int backlog) {
    check("rdma_listen", "", calls.listen(address, backlog));
  }

  /** {@return the port that the id is bound to} */
  public int port() {
    return Short.reverseBytes(calls.getSrcPort(address)) & 0xffff;
  }

  /** {@return the local address of the id; empty if it is not known yet} */
  public Optional<InetSocketAddress> localAddress() {
    return SocketAddresses.decode(address + ADDRESSES + rdma_addr.src_addr$offset());
  }

  /** {@return the address of the peer; empty if it is not known yet} */
  public Optional<InetSocketAddress> peerAddress() {
    return SocketAddresses.decode(address + ADDRESSES + rdma_addr.dst_addr$offset());
  }

  /**
   * Starts to resolve an address and binds the id to a device: {@link
   * CmEvent.Type#ADDRESS_RESOLVED} or {@link CmEvent.Type#ADDRESS_ERROR} follows.
   *
   * @param destination the peer's address
   * @param timeoutMillis the time to wait for the resolution, in milliseconds
   * @throws VerbsException ENODEV if no device reaches the address
   */
  public void resolveAddress(InetSocketAddress destination, int timeoutMillis) {
    try (Arena arena = Arena.ofConfined()) {
      check(
          "rdma_resolve_addr",
          text(destination),
          calls.resolveAddr(address, SocketAddresses.encode(arena, destination), timeoutMillis));
    }
  }

  /**
   * Starts to resolve the route: {@link CmEvent.Type#ROUTE_RESOLVED} or {@link
   * CmEvent.Type#ROUTE_ERROR} follows.
   *
   * @param timeoutMillis the time to wait for the resolution, in milliseconds
   * @throws VerbsException if the address is not resolved
   */
  public void resolveRoute(int timeoutMillis) {
    check("rdma_resolve_route", "", calls.resolveRoute(address, timeoutMillis));
  }

  /**
   * Sets the ACK timeout: how long the device waits for an acknowledgment before it retransmits a
   * message. Call it before connecting or accepting.
   *
   * @param exponent 0 to 31, for a timeout of 4.096 µs · 2^exponent
   * @return whether the library supports the option
   */
  public boolean setAckTimeout(int exponent) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocateFrom(ValueLayout.JAVA_BYTE, (byte) exponent);
      return calls.setOption(address, LEVEL_ID, OPTION_ACK_TIMEOUT, value) >= 0;
    }
  }

  /**
   * Creates the id's queue pair, in a state in which receives can be posted.
   *
   * @param domain the protection domain
   * @param sizes the minimum sizes; the device may round them up
   * @param sends the completion queue of its sends
   * @param receives the completion queue of its receives
   * @param shared the shared receive queue; null for a receive queue of its own
   * @return the queue pair, destroyed by {@link #destroyQueuePair}
   * @throws VerbsException if the device cannot create it
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
          "%s sends, %s receives, %s bytes inline, %s pieces"
              .formatted(sizes.sends(), sizes.receives(), sizes.inline(), sizes.pieces()),
          calls.createQp(address, domain.address(), attributes));
      return new QueuePair(
          domain.context(),
          RawMemory.getLong(address + rdma_cm_id.qp$offset()),
          QueuePair.sizes(attributes));
    }
  }

  /**
   * {@return whether the id of a connect request can still be accepted} If the client has given up,
   * the kernel reports it only after the request is accepted.
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
   * Starts to establish the connection: {@link CmEvent.Type#ESTABLISHED}, {@link
   * CmEvent.Type#REJECTED}, {@link CmEvent.Type#UNREACHABLE} or {@link CmEvent.Type#CONNECT_ERROR}
   * follows.
   *
   * @param parameters the parameters of the connection
   * @throws VerbsException if the route is not resolved, or the device fails
   */
  public void connect(ConnectionParameters parameters) {
    try (Arena arena = Arena.ofConfined()) {
      check("rdma_connect", "", calls.connect(address, parameters.encode(arena)));
    }
  }

  /**
   * Accepts a connect request: {@link CmEvent.Type#ESTABLISHED} or an error follows.
   *
   * @param parameters the parameters of the connection
   * @throws VerbsException if the client is gone, or the device fails
   */
  public void accept(ConnectionParameters parameters) {
    try (Arena arena = Arena.ofConfined()) {
      check("rdma_accept", "", calls.accept(address, parameters.encode(arena)));
    }
  }

  /**
   * Rejects a connect request.
   *
   * @param privateData the private data for the client, at most {@link
   *     ConnectionParameters#MAX_REJECT_DATA} bytes
   * @throws IllegalArgumentException if the private data is longer
   * @throws VerbsException if the client is gone
   */
  public void reject(byte[] privateData) {
    if (privateData.length > ConnectionParameters.MAX_REJECT_DATA) {
      throw new IllegalArgumentException(
          "private data too long: "
              + privateData.length
              + " bytes exceed the limit of "
              + ConnectionParameters.MAX_REJECT_DATA
              + " bytes");
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment data = arena.allocateFrom(ValueLayout.JAVA_BYTE, privateData);
      check("rdma_reject", "", calls.reject(address, data, privateData.length));
    }
  }

  /**
   * Disconnects and flushes the queue pair. {@link CmEvent.Type#DISCONNECTED} follows: at the peer
   * immediately, and at this side when the peer has disconnected too or has not answered for a long
   * time.
   *
   * @return 0; below 0 if the id was not connected
   */
  public int disconnect() {
    return calls.disconnect(address);
  }

  /** Destroys the id. Its queue pair must be destroyed first. */
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
