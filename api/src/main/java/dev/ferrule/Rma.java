// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.lang.foreign.MemorySegment;
import java.time.Duration;

/**
 * Remote memory access: reads, writes and atomically changes memory that the peer has exposed,
 * without involving the peer's program (one-sided). One side exposes memory and sends its handle;
 * the other side attaches the handle and may then access the memory any number of times.
 *
 * <table>
 * <caption>Operations</caption>
 * <tr><th>operation</th><th>right</th><th>other forms</th><th>local memory until it is
 * complete</th></tr>
 * <tr><td>{@link #write}</td><td>{@link RmaRight#WRITE}</td>
 * <td>Duration, {@link #tryWrite}</td><td>source; must not be changed</td></tr>
 * <tr><td>{@link #read}</td><td>{@link RmaRight#READ}</td>
 * <td>Duration, {@link #tryRead}</td><td>target; undefined</td></tr>
 * <tr><td>{@link #fetchAndAdd}</td><td>{@link RmaRight#ATOMIC}</td>
 * <td>Duration, {@link #tryFetchAndAdd}</td><td>target of the previous value; undefined</td></tr>
 * <tr><td>{@link #compareAndSwap}</td><td>{@link RmaRight#ATOMIC}</td>
 * <td>Duration, {@link #tryCompareAndSwap}</td><td>target of the previous value; undefined</td></tr>
 * <tr><td>{@link #writeAndSend}</td><td>{@link RmaRight#WRITE}</td>
 * <td>none</td><td>source; must not be changed</td></tr>
 * </table>
 *
 * <p>Each returns the operation's id, once the operation has started; it may be complete by then.
 * Ids start at 1 and increase by 1 per operation.
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
 * operations. {@link #fence} and {@link #writeAndSend} enforce an order where one is needed. To
 * notify the peer of several writes, call fence before the last one, which is writeAndSend. The
 * bytes of one operation become visible in no particular order, and not atomically, except those of
 * {@link #fetchAndAdd} and {@link #compareAndSwap}.
 *
 * <p><b>Waiting:</b> an operation may have to wait for space: over RDMA, for outstanding requests;
 * over shared memory that is not mapped, for the peer's thread. It uses the connection's {@link
 * WaitStrategy}. With a {@link Duration} it waits for that time at most, and then throws {@link
 * OperationTimeoutException}: a write or a read may have copied some bytes by then, but an atomic
 * operation has changed nothing. {@code try…} does not wait, and returns 0 without any effect if
 * the operation cannot start at once. Memory that is mapped, or copied by the system, is copied
 * within the call in each form.
 *
 * <p><b>Atomic operations</b> change one word of 8 bytes, in the machine's byte order. They are
 * atomic with respect to each other, whichever connections of one provider they use:
 *
 * <ul>
 *   <li>over shared memory, also with respect to the atomic accesses of every process to that word,
 *       such as {@link java.lang.invoke.VarHandle#getAndAdd};
 *   <li>over RDMA, only if they reach the memory through the same device, and in general not with
 *       respect to accesses by processors: while peers may change a word, the owner's program only
 *       reads it, or changes it over a connection to itself.
 * </ul>
 *
 * They are not atomic with respect to reads and writes of this interface, nor to those of a peer
 * over another provider.
 *
 * <p><b>Threads:</b> one thread at a time may use an Rma. Only {@link #expose}, {@link #allocate}
 * and {@link #attach} may be called by any thread. {@link #writeAndSend} uses the connection's
 * {@link Sender} as well.
 *
 * <p><b>Errors:</b> every method throws {@link ConnectionClosedException} if the connection is
 * closed, by either side, and {@link PeerLostException} if the peer died; {@link #isComplete} and
 * {@link #await} do so if the operation was not complete by then. Those two also throw {@link
 * RemoteAccessException} if the operation of this id or an earlier one has failed, once for each
 * failed operation, and {@link IllegalArgumentException} for an id that this Rma never returned. A
 * range that is not within its memory causes {@link IndexOutOfBoundsException}, before anything is
 * copied. A method that waits throws {@link OperationInterruptedException} if the thread is
 * interrupted meanwhile. Remote memory of another connection, and registered memory of another
 * provider, cause {@link IllegalArgumentException}; the first use of registered memory on a further
 * device may throw {@link ResourceExhaustedException}. The methods name only what they throw beyond
 * that. Only {@code expose}, {@code allocate}, {@code attach} and failures allocate on the heap.
 *
 * <p><b>Sources:</b> RDMA READ, WRITE and atomic operations of the InfiniBand Architecture
 * Specification, and KNEM, cross-memory attach and mmap of CCI's sm transport, see docs/sources.md.
 */
public interface Rma {

  /**
   * Exposes memory to the peer until the returned object or the connection is closed. Over RDMA it
   * waits until the peer's device has stored a description of the memory: a round trip. The same
   * memory may be exposed over several connections, each with its own rights; each exposure is
   * registered with the device and closed separately.
   *
   * @param memory a native segment that any thread may access; it must stay alive until then
   * @param rights the accesses that the peer may make, at least one
   * @return the exposed memory, with its handle
   * @throws IllegalArgumentException if the segment is on the heap, is confined to one thread, or
   *     is read-only although the peer may write or use atomic operations; or if no right is given
   * @throws UnsupportedOperationException if the rights include {@link RmaRight#ATOMIC} and this
   *     side's device has no atomic operations
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
   *     closing it; {@link Connection} states what happens to it after the connection's close
   * @throws IllegalArgumentException if the size is less than 1, or no right is given
   * @throws UnsupportedOperationException as for {@link #expose}
   * @throws ResourceExhaustedException if that much memory is not available, or cannot be exposed
   *     over this connection
   */
  ExposedMemory allocate(long size, RmaRight... rights);

  /**
   * Attaches memory that the peer has exposed over this connection.
   *
   * @param handle the handle, as received from the peer
   * @return the memory, for the operations of this Rma
   * @throws RemoteAccessException if the handle is malformed or belongs to another connection, or
   *     its memory is no longer exposed
   */
  RemoteMemory attach(RmaHandle handle);

  /**
   * Writes to the peer's memory. Waits while there is no space to start the operation.
   *
   * @param local the source; must not be changed before the operation is complete
   * @param localOffset the offset in the source, in bytes
   * @param remote the target
   * @param remoteOffset the offset in the target, in bytes; need not be aligned
   * @param length the number of bytes; may be 0
   * @return the operation's id, for {@link #await}
   * @throws RemoteAccessException if the memory is not exposed for writes, or no longer; each byte
   *     that was written was exposed at that time
   * @throws OperationInterruptedException if the thread was interrupted while it waited for space;
   *     some bytes may be written then, and the local memory may be in use until a later operation
   *     is complete or its registration is closed
   */
  long write(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length);

  /**
   * Starts the operation as {@link #write} does, and waits for space for the timeout at most.
   *
   * @param local as for {@link #write}
   * @param localOffset as for {@link #write}
   * @param remote as for {@link #write}
   * @param remoteOffset as for {@link #write}
   * @param length as for {@link #write}
   * @param timeout the maximum time to wait; zero or less does not wait
   * @return the operation's id
   */
  long write(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length,
      Duration timeout);

  /**
   * Starts the operation as {@link #write} does, if it can start at once.
   *
   * @param local as for {@link #write}
   * @param localOffset as for {@link #write}
   * @param remote as for {@link #write}
   * @param remoteOffset as for {@link #write}
   * @param length as for {@link #write}
   * @return the operation's id; 0 if there is no space
   * @throws IllegalArgumentException if the transport cannot start an operation of that length
   *     without waiting; use {@link #write}
   */
  long tryWrite(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length);

  /**
   * Reads from the peer's memory. Waits while there is no space to start the operation.
   *
   * @param local the target; its content is undefined until the operation is complete
   * @param localOffset the offset in the target, in bytes
   * @param remote the source
   * @param remoteOffset the offset in the source, in bytes; need not be aligned
   * @param length the number of bytes; may be 0
   * @return the operation's id, for {@link #await}
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
   * Starts the operation as {@link #read} does, and waits for space for the timeout at most.
   *
   * @param local as for {@link #read}
   * @param localOffset as for {@link #read}
   * @param remote as for {@link #read}
   * @param remoteOffset as for {@link #read}
   * @param length as for {@link #read}
   * @param timeout the maximum time to wait; zero or less does not wait
   * @return the operation's id
   */
  long read(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length,
      Duration timeout);

  /**
   * Starts the operation as {@link #read} does, if it can start at once.
   *
   * @param local as for {@link #read}
   * @param localOffset as for {@link #read}
   * @param remote as for {@link #read}
   * @param remoteOffset as for {@link #read}
   * @param length as for {@link #read}
   * @return the operation's id; 0 if there is no space
   * @throws IllegalArgumentException if the transport cannot start an operation of that length
   *     without waiting; use {@link #read}
   */
  long tryRead(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length);

  /**
   * Atomically adds to a word of the peer's memory, and stores the previous value in local memory.
   * Waits while there is no space to start the operation. See Atomic operations above.
   *
   * {@snippet lang=java :
   * try (Arena arena = Arena.ofShared();
   *     Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-tickets"))) {
   *   var connecting = CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
   *   try (Connection server = listener.accept();
   *       Connection client = connecting.join();
   *       RegisteredMemory local = client.register(arena.allocate(8, 8))) {
   *     try (ExposedMemory counter = server.rma().allocate(8, RmaRight.ATOMIC)) {
   *       RemoteMemory remote = client.rma().attach(counter.handle());
   *       client.rma().await(client.rma().fetchAndAdd(local, 0, remote, 0, 1));
   *       long ticket = local.segment().get(ValueLayout.JAVA_LONG, 0);
   *       System.out.println("ticket " + ticket); // ticket 0
   *     }
   *   }
   * }
   * }
   *
   * @param local gets the previous value; its 8 bytes are undefined until the operation is complete
   * @param localOffset the offset in the local memory, in bytes
   * @param remote the memory with the word
   * @param remoteOffset the word's offset, in bytes
   * @param addend the number to add, modulo 2<sup>64</sup>
   * @return the operation's id, for {@link #await}
   * @throws IllegalArgumentException if the local memory is read-only; or if the address of either
   *     memory plus its offset, in the process that owns the memory, is not a multiple of 8
   * @throws RemoteAccessException if the memory is not exposed for atomic operations, or no longer
   * @throws UnsupportedOperationException if this side's device has no atomic operations
   * @throws OperationInterruptedException if the thread was interrupted while it waited for space;
   *     the word is not changed
   */
  long fetchAndAdd(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long addend);

  /**
   * Starts the operation as {@link #fetchAndAdd} does, and waits for space for the timeout at most.
   *
   * @param local as for {@link #fetchAndAdd}
   * @param localOffset as for {@link #fetchAndAdd}
   * @param remote as for {@link #fetchAndAdd}
   * @param remoteOffset as for {@link #fetchAndAdd}
   * @param addend as for {@link #fetchAndAdd}
   * @param timeout the maximum time to wait; zero or less does not wait
   * @return the operation's id
   */
  long fetchAndAdd(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long addend,
      Duration timeout);

  /**
   * Starts the operation as {@link #fetchAndAdd} does, if it can start at once.
   *
   * @param local as for {@link #fetchAndAdd}
   * @param localOffset as for {@link #fetchAndAdd}
   * @param remote as for {@link #fetchAndAdd}
   * @param remoteOffset as for {@link #fetchAndAdd}
   * @param addend as for {@link #fetchAndAdd}
   * @return the operation's id; 0 if there is no space
   */
  long tryFetchAndAdd(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long addend);

  /**
   * Atomically compares a word of the peer's memory with an expected value, sets it if they are
   * equal, and stores the previous value in local memory. So the word was set if, and only if, the
   * stored value is the expected one. Otherwise like {@link #fetchAndAdd}.
   *
   * @param local as for {@link #fetchAndAdd}
   * @param localOffset as for {@link #fetchAndAdd}
   * @param remote as for {@link #fetchAndAdd}
   * @param remoteOffset as for {@link #fetchAndAdd}
   * @param expected the value that the word must have to be set
   * @param desired the value to set
   * @return the operation's id, for {@link #await}
   */
  long compareAndSwap(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long expected,
      long desired);

  /**
   * Starts the operation as {@link #compareAndSwap} does, and waits for space for the timeout at
   * most.
   *
   * @param local as for {@link #compareAndSwap}
   * @param localOffset as for {@link #compareAndSwap}
   * @param remote as for {@link #compareAndSwap}
   * @param remoteOffset as for {@link #compareAndSwap}
   * @param expected as for {@link #compareAndSwap}
   * @param desired as for {@link #compareAndSwap}
   * @param timeout the maximum time to wait; zero or less does not wait
   * @return the operation's id
   */
  long compareAndSwap(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long expected,
      long desired,
      Duration timeout);

  /**
   * Starts the operation as {@link #compareAndSwap} does, if it can start at once.
   *
   * @param local as for {@link #compareAndSwap}
   * @param localOffset as for {@link #compareAndSwap}
   * @param remote as for {@link #compareAndSwap}
   * @param remoteOffset as for {@link #compareAndSwap}
   * @param expected as for {@link #compareAndSwap}
   * @param desired as for {@link #compareAndSwap}
   * @return the operation's id; 0 if there is no space
   */
  long tryCompareAndSwap(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long expected,
      long desired);

  /**
   * Writes to the peer's memory and then sends a message. When the peer receives the message, it
   * sees the written bytes. May wait for space, and, except over RDMA, until the write is complete.
   * Uses {@link Connection#sender()}, also its thread rule. A program that must not wait calls
   * {@link #tryWrite}, {@link #isComplete} and then {@link Sender#trySend(MemorySegment)}.
   *
   * @param local as for {@link #write}
   * @param localOffset as for {@link #write}
   * @param remote as for {@link #write}
   * @param remoteOffset as for {@link #write}
   * @param length as for {@link #write}
   * @param message the message, which is copied
   * @return the write's id
   * @throws MessageTooLongException if the message exceeds the peer's limit; nothing was written
   * @throws IllegalStateException if {@link Connection#sender()} is closed; nothing was written
   */
  long writeAndSend(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length,
      MemorySegment message);

  /**
   * Orders operations: all earlier ones take effect before any later one begins. May wait until
   * they are complete, except over RDMA; {@link #isComplete} returns whether it would.
   */
  void fence();

  /**
   * {@return whether an operation is complete: the peer's memory contains the bytes written, or the
   * local memory the bytes read or the previous value, and the local memory may be reused}
   * Operations complete in order. Does not wait.
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
