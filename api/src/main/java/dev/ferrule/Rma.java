// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;
import java.time.Duration;

/**
 * Remote memory access: reads and writes memory that the peer has exposed, without its program's
 * doing. One side exposes memory and ships its handle; the other one attaches that and accesses the
 * memory as often as it likes.
 *
 * {@snippet lang=java :
 * try (Arena arena = Arena.ofShared();
 *     Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-rma"))) {
 *   var connecting = CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
 *   try (Connection server = listener.accept();
 *       Connection client = connecting.join();
 *       ExposedMemory board = server.rma().expose(arena.allocate(4096), RmaRight.WRITE);
 *       RegisteredMemory local = client.register(arena.allocate(4096))) {
 *     RemoteMemory remote = client.rma().attach(board.handle()); // shipped by a message, in real life
 *     local.segment().setString(0, "written from afar");
 *     long id = client.rma().write(local, 0, remote, 100, 18);
 *     client.rma().await(id);
 *     System.out.println(board.segment().getString(100)); // written from afar
 *   }
 * }
 * }
 *
 * <p><b>Order.</b> Operations of one Rma may overtake each other, and messages may overtake them;
 * {@link #fence} and {@link #writeAndSend} keep an order where one is needed. The bytes of one
 * operation come in no particular order, and not all at once.
 *
 * <p><b>Threads:</b> one thread at a time uses an Rma, besides {@link #expose}, {@link #allocate}
 * and {@link #attach}, which any thread may call. {@link #writeAndSend} uses the connection's
 * {@link Sender} as well. As for a Sender, {@code -ea} or {@code ferrule.checkThreads=true} detects
 * two threads that use an Rma at the same time.
 *
 * <p>Nothing but {@code expose}, {@code allocate}, {@code attach} and failures allocates on the
 * heap.
 */
public interface Rma {

  /**
   * Lets the peer access memory, from now until what is returned is closed, or the connection is.
   * May wait until the peer's device knows of it, which takes about as long as a message there and
   * back.
   *
   * @param memory a native segment that any thread may access, which must stay alive until then
   * @param rights what the peer may do, at least one
   * @return the exposed memory, with its handle
   * @throws IllegalArgumentException if the segment is on the heap, confined to one thread, or
   *     read-only though the peer may write; or without rights
   * @throws ResourceExhaustedException if too much is exposed over this connection already, or the
   *     operating system refuses to pin that much memory
   * @throws IllegalStateException if the memory has been freed
   * @throws ConnectionClosedException if the connection is closed
   * @throws PeerLostException if the peer died
   */
  ExposedMemory expose(MemorySegment memory, RmaRight... rights);

  /**
   * Allocates memory and exposes it. Over shared memory the peer has it mapped: its accesses are
   * plain copies in user space, and it may access it through {@link RemoteMemory#view}. Other
   * transports treat it as any other memory.
   *
   * @param size how many bytes, at least 1
   * @param rights what the peer may do, at least one
   * @return the memory, zeroed and aligned to 4096 bytes. The program must not access it after it
   *     has closed this, or the connection
   * @throws IllegalArgumentException if the size is less than 1, or without rights
   * @throws ResourceExhaustedException if there is not so much memory, or not so much may be
   *     exposed over this connection
   * @throws ConnectionClosedException if the connection is closed
   * @throws PeerLostException if the peer died
   */
  ExposedMemory allocate(long size, RmaRight... rights);

  /**
   * Attaches memory that the peer has exposed over this connection.
   *
   * @param handle its handle, as the peer has shipped it
   * @return the memory, for {@link #read} and {@link #write}
   * @throws RemoteAccessException if it is no handle, one of another connection, or of memory that
   *     is no longer exposed
   * @throws ConnectionClosedException if the connection is closed
   */
  RemoteMemory attach(RmaHandle handle);

  /**
   * Writes to the peer's memory. Returns when the operation is under way, which may be when it is
   * done; waits as long as there is no room for it to be so.
   *
   * @param local what to write from; not to be changed before the operation is complete
   * @param localOffset where in it, in bytes
   * @param remote what to write to
   * @param remoteOffset where in it, in bytes; no alignment is needed
   * @param length how many bytes, from 0
   * @return the operation's id, for {@link #await}; ids count from 1
   * @throws IndexOutOfBoundsException if that is not within both; nothing has been written
   * @throws RemoteAccessException if the memory is not exposed for writes, or no longer; nothing of
   *     it has been written that was not exposed at that time
   * @throws IllegalArgumentException if one of the two is of another connection
   * @throws ConnectionClosedException if the connection is closed, or by the peer
   * @throws PeerLostException if the peer died
   * @throws OperationInterruptedException if the thread was interrupted while it waited for room; a
   *     part of the operation may be under way then, and use the local memory until a later
   *     operation is complete or the memory's registration is closed
   */
  long write(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length);

  /**
   * Reads from the peer's memory. Returns when the operation is under way, which may be when it is
   * done; waits as long as there is no room for it to be so.
   *
   * @param local what to read into; has the bytes when the operation is complete, and any others
   *     before
   * @param localOffset where in it, in bytes
   * @param remote what to read from
   * @param remoteOffset where in it, in bytes; no alignment is needed
   * @param length how many bytes, from 0
   * @return the operation's id, for {@link #await}; ids count from 1
   * @throws IndexOutOfBoundsException if that is not within both
   * @throws RemoteAccessException if the memory is not exposed for reads, or no longer
   * @throws IllegalArgumentException if one of the two is of another connection, or the local one
   *     is read-only
   * @throws ConnectionClosedException if the connection is closed, or by the peer
   * @throws PeerLostException if the peer died
   * @throws OperationInterruptedException as for {@link #write}
   */
  long read(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length);

  /**
   * Writes to the peer's memory, and then sends a message: when the peer receives it, it sees what
   * was written. May wait until the write is complete, and for room for the message, whose thread
   * is this one.
   *
   * @param local as for {@link #write}
   * @param localOffset as for {@link #write}
   * @param remote as for {@link #write}
   * @param remoteOffset as for {@link #write}
   * @param length as for {@link #write}
   * @param message the message, which is copied
   * @return the write's id
   * @throws MessageTooLongException if the message is longer than the peer takes; nothing was
   *     written
   */
  long writeAndSend(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length,
      MemorySegment message);

  /**
   * Returns how bytes are copied, which may change when one way fails: {@code knem}, {@code cma} or
   * {@code mmap} over shared memory, {@code rdma} by a device. Any thread may call.
   *
   * @return the name of the way
   */
  String path();

  /** Has all operations before this one take effect before any that begins after it. */
  void fence();

  /**
   * Tells whether an operation is complete: what was written is in the peer's memory, what was read
   * is here, and the local memory may be used again. Does not wait.
   *
   * @param id an id that this Rma returned
   * @return whether it is; ids complete in order
   * @throws IllegalArgumentException if this Rma never returned the id
   * @throws RemoteAccessException if this or another operation could not be done; told once
   * @throws ConnectionClosedException if the connection ended before the operation was complete
   * @throws PeerLostException if the peer died before
   */
  boolean isComplete(long id);

  /**
   * Waits until an operation is complete.
   *
   * @param id an id that this Rma returned
   * @throws OperationInterruptedException if the thread was interrupted while it waited
   * @throws IllegalArgumentException as for {@link #isComplete}
   * @throws RemoteAccessException as for {@link #isComplete}
   * @throws ConnectionClosedException as for {@link #isComplete}
   * @throws PeerLostException as for {@link #isComplete}
   */
  void await(long id);

  /**
   * Waits until an operation is complete, but not longer than the timeout.
   *
   * @param id an id that this Rma returned
   * @param timeout how long to wait at most; zero or less does not wait
   * @throws OperationTimeoutException if it was not complete in time
   * @throws OperationInterruptedException as for {@link #await(long)}
   * @throws IllegalArgumentException as for {@link #isComplete}
   * @throws RemoteAccessException as for {@link #isComplete}
   * @throws ConnectionClosedException as for {@link #isComplete}
   * @throws PeerLostException as for {@link #isComplete}
   */
  void await(long id, Duration timeout);
}
