// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;
import java.time.Duration;

/**
 * Remote memory access: reads and writes memory that the peer has exposed, without involving the
 * peer's program (one-sided). One side exposes memory and sends its handle; the other side attaches
 * the handle and may then access the memory any number of times.
 *
 * {@snippet lang=java :
 * try (Arena arena = Arena.ofShared();
 *     Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-rma"))) {
 *   var connecting = CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
 *   try (Connection server = listener.accept();
 *       Connection client = connecting.join();
 *       ExposedMemory board = server.rma().expose(arena.allocate(4096), RmaRight.WRITE);
 *       RegisteredMemory local = client.register(arena.allocate(4096))) {
 *     RemoteMemory remote = client.rma().attach(board.handle()); // normally sent in a message
 *     local.segment().setString(0, "written from afar");
 *     long id = client.rma().write(local, 0, remote, 100, 18);
 *     client.rma().await(id);
 *     System.out.println(board.segment().getString(100)); // written from afar
 *   }
 * }
 * }
 *
 * <p><b>Order:</b> operations of one Rma may overtake each other, and messages may overtake
 * operations. {@link #fence} and {@link #writeAndSend} enforce an order where one is needed. The
 * bytes of one operation become visible in no particular order, and not atomically.
 *
 * <p><b>Threads:</b> one thread at a time may use an Rma. Only {@link #expose}, {@link #allocate}
 * and {@link #attach} may be called by any thread. {@link #writeAndSend} uses the connection's
 * {@link Sender} as well.
 *
 * <p><b>Errors:</b> every method but {@link #path} throws {@link ConnectionClosedException} if the
 * connection is closed, by either side, and {@link PeerLostException} if the peer died; {@link
 * #isComplete} and {@link #await} do so if the operation was not complete by then. Those two also
 * throw {@link RemoteAccessException}, once, if this or another operation has failed, and {@link
 * IllegalArgumentException} for an id that this Rma never returned. A range that is not within its
 * memory causes {@link IndexOutOfBoundsException}, before anything is copied. A method that waits
 * throws {@link OperationInterruptedException} if the thread is interrupted meanwhile. Memory of
 * another connection causes {@link IllegalArgumentException}. The methods name only what they throw
 * beyond that. Only {@code expose}, {@code allocate}, {@code attach} and failures allocate on the
 * heap.
 */
public interface Rma {

  /**
   * Exposes memory to the peer until the returned object or the connection is closed. May wait
   * until the peer's device is informed, which takes about as long as a message round trip.
   *
   * @param memory a native segment that any thread may access; it must stay alive until then
   * @param rights the accesses that the peer may make, at least one
   * @return the exposed memory, with its handle
   * @throws IllegalArgumentException if the segment is on the heap, is confined to one thread, or
   *     is read-only although the peer may write; or if no right is given
   * @throws ResourceExhaustedException if this connection exposes too much memory already, or the
   *     operating system refuses to pin that much memory
   * @throws IllegalStateException if the memory has been freed
   */
  ExposedMemory expose(MemorySegment memory, RmaRight... rights);

  /**
   * Allocates memory and exposes it to the peer. Over shared memory, the memory is mapped into the
   * peer's process: the peer's accesses are plain copies in user space, and {@link
   * RemoteMemory#view} provides direct access. Other transports treat it as any other memory.
   *
   * @param size the size in bytes, at least 1
   * @param rights the accesses that the peer may make, at least one
   * @return the memory, zeroed and aligned to 4096 bytes. The program must not access it after
   *     closing it or the connection
   * @throws IllegalArgumentException if the size is less than 1, or no right is given
   * @throws ResourceExhaustedException if that much memory is not available, or cannot be exposed
   *     over this connection
   */
  ExposedMemory allocate(long size, RmaRight... rights);

  /**
   * Attaches memory that the peer has exposed over this connection.
   *
   * @param handle the handle, as received from the peer
   * @return the memory, for {@link #read} and {@link #write}
   * @throws RemoteAccessException if the handle is malformed or belongs to another connection, or
   *     its memory is no longer exposed
   */
  RemoteMemory attach(RmaHandle handle);

  /**
   * Writes to the peer's memory. Returns once the operation has started; it may be complete by
   * then. Waits while there is no space to start it.
   *
   * @param local the source; must not be changed before the operation is complete
   * @param localOffset the offset in the source, in bytes
   * @param remote the target
   * @param remoteOffset the offset in the target, in bytes; need not be aligned
   * @param length the number of bytes; may be 0
   * @return the operation's id, for {@link #await}; ids start at 1
   * @throws RemoteAccessException if the memory is not exposed for writes, or no longer; no bytes
   *     have been written that were not exposed at that time
   * @throws OperationInterruptedException if the thread was interrupted while it waited for space;
   *     part of the operation may have started then, and uses the local memory until a later
   *     operation is complete or the memory's registration is closed
   */
  long write(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length);

  /**
   * Reads from the peer's memory. Returns once the operation has started; it may be complete by
   * then. Waits while there is no space to start it.
   *
   * @param local the target; its content is undefined until the operation is complete
   * @param localOffset the offset in the target, in bytes
   * @param remote the source
   * @param remoteOffset the offset in the source, in bytes; need not be aligned
   * @param length the number of bytes; may be 0
   * @return the operation's id, for {@link #await}; ids start at 1
   * @throws RemoteAccessException if the memory is not exposed for reads, or no longer
   * @throws IllegalArgumentException if the local memory is read-only
   * @throws OperationInterruptedException as for {@link #write}
   */
  long read(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length);

  /**
   * Writes to the peer's memory and then sends a message. When the peer receives the message, it
   * sees the written bytes. May wait until the write is complete, and for space for the message.
   * The calling thread must be the one that uses the Sender.
   *
   * @param local as for {@link #write}
   * @param localOffset as for {@link #write}
   * @param remote as for {@link #write}
   * @param remoteOffset as for {@link #write}
   * @param length as for {@link #write}
   * @param message the message, which is copied
   * @return the write's id
   * @throws MessageTooLongException if the message exceeds the peer's limit; nothing was written
   */
  long writeAndSend(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length,
      MemorySegment message);

  /**
   * {@return the name of the mechanism that copies the bytes: {@code knem}, {@code cma} or {@code
   * mmap} over shared memory, {@code rdma} by a device} It may change if a mechanism fails. May be
   * called by any thread.
   */
  String path();

  /** Orders operations: all earlier ones take effect before any later one begins. */
  void fence();

  /**
   * {@return whether an operation is complete: the peer's memory contains the bytes written, or the
   * local memory the bytes read, and the local memory may be reused} Operations complete in order.
   * Does not wait.
   *
   * @param id an id that this Rma returned
   */
  boolean isComplete(long id);

  /**
   * Waits until an operation is complete.
   *
   * @param id an id that this Rma returned
   */
  void await(long id);

  /**
   * Waits until an operation is complete, for the given timeout at most.
   *
   * @param id an id that this Rma returned
   * @param timeout the maximum time to wait; zero or less does not wait
   * @throws OperationTimeoutException if the operation was not complete within the timeout
   */
  void await(long id, Duration timeout);
}
