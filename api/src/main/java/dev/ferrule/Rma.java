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
 * <p><b>Order:</b> operations of one Rma may take effect in any order, and messages may overtake
 * operations. {@link #fence} orders operations, but not messages: also after a fence, a message of
 * {@link Sender#send(MemorySegment)} may arrive before the bytes. {@link #writeAndSend} orders its
 * message behind its write and all earlier writes; so does a program that awaits the last write and
 * then sends. Completion is reported in the order of the ids: when an id is complete, all earlier
 * ones are. The bytes of one operation become visible in no particular order, and not atomically,
 * except those of {@link #fetchAndAdd} and {@link #compareAndSwap}.
 *
 * <p><b>Copying within the call:</b> no Duration, no {@code try…} form and no interrupt bounds the
 * time of copying. Over shared memory, a write or read of memory that is mapped ({@link
 * #allocate}), or that the system copies ({@code rmaPath} {@code cma} or {@code knem}), copies all
 * bytes within the call, in each form, and is complete when it returns; soft-RoCE within one host
 * copies within the call as well.
 *
 * <p><b>Waiting:</b> an operation may have to wait before it can start: over RDMA while too many
 * requests are outstanding; over shared memory while the peer's thread is behind, which copies by
 * {@code mmap}, and changes words of memory that is not mapped. The wait uses the connection's
 * {@link WaitStrategy}. With a {@link Duration} it waits for that time at most, and then throws
 * {@link OperationTimeoutException}. {@code try…} does not wait, and returns 0 without any effect
 * if the operation cannot start at once. A Duration of zero or less does not wait either, and
 * throws {@link OperationTimeoutException} in that case. Both refuse an operation that is too long,
 * see {@link #tryWrite}; up to 64 KiB each transport takes.
 *
 * <p><b>After a timeout or an interrupt</b> the operation has no id, and the local memory may be
 * reused at once: over RDMA the call first waits for the parts that have started, which a dead link
 * ends after the timeouts of the device. An atomic operation has changed nothing. A write or read
 * may have copied some bytes; of a write by {@code mmap}, some may still reach the peer's memory
 * until a later operation is complete.
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
 * <p><b>Failed operations:</b> memory that the peer has revoked causes {@link
 * RemoteAccessException} when the operation starts or, if the peer's thread copies ({@code mmap}),
 * when it is complete. Then {@link #isComplete}, {@link #await} and {@link #writeAndSend} throw one
 * exception for all operations up to their id that have failed and were not reported. {@link
 * RemoteAccessException#operation} is the id of the earliest. After that these ids are complete,
 * and later operations can be used as before. {@link #fence} reports no failure, and operations
 * after it start although an earlier one has failed. If a device rejects an access, the connection
 * ends.
 *
 * <p><b>Errors:</b> every method throws {@link ConnectionClosedException} if the connection is
 * closed, by either side, {@link PeerLostException} if the peer died, and {@link ProtocolException}
 * if it violated the protocol; {@link #isComplete} and {@link #await} do so if the operation was
 * not complete by then, and {@link IllegalArgumentException} for an id that this Rma never
 * returned. A range that is not within its memory causes {@link IndexOutOfBoundsException}, before
 * anything is copied. A method that waits throws {@link OperationInterruptedException} if the
 * thread is interrupted meanwhile. Remote memory of another connection, and registered memory of
 * another provider, cause {@link IllegalArgumentException}; the first use of registered memory on a
 * further device may throw {@link ResourceExhaustedException}. The methods name only what they
 * throw beyond that. Only {@code expose}, {@code allocate}, {@code attach} and failures allocate on
 * the heap.
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
   * @param memory a native segment that any thread may access. It must stay alive until then: if
   *     its arena is closed before, the peer writes to whatever the memory is reused for, which may
   *     crash this JVM. So close the exposure, or the connection, before the arena
   * @param rights the accesses that the peer may make, at least one
   * @return the exposed memory, with its handle
   * @throws IllegalArgumentException if the segment is on the heap, is confined to one thread, or
   *     is read-only although the peer may write or use atomic operations; or if no right is given
   * @throws UnsupportedOperationException if the rights include {@link RmaRight#ATOMIC} and this
   *     side's device has no atomic operations
   * @throws ResourceExhaustedException if this side has 256 pieces of memory exposed over this
   *     connection, which is the limit, or the operating system refuses to pin that much memory
   * @throws IllegalStateException if the memory has been freed
   */
  ExposedMemory expose(MemorySegment memory, RmaRight... rights);

  /**
   * Allocates memory and exposes it to the peer. Over shared memory, the memory is mapped into the
   * peer's process: the peer's accesses are plain copies in user space, and {@link
   * RemoteMemory#view} provides direct access; the option {@code allocatable} of this side limits
   * its total size, by default to 64 MiB. Other transports treat it as any other memory.
   *
   * @param size the size in bytes, at least 1
   * @param rights the accesses that the peer may make, at least one
   * @return the memory, zeroed and aligned to 4096 bytes. The program must not access it after
   *     closing it, so it copies what it needs before; {@link Connection} states what happens to
   *     memory after a close
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
   * Writes to the peer's memory. Waits while the operation cannot start.
   *
   * @param local the source; must not be changed before the operation is complete
   * @param localOffset the offset in the source, in bytes
   * @param remote the target
   * @param remoteOffset the offset in the target, in bytes; need not be aligned
   * @param length the number of bytes; may be 0
   * @return the operation's id, for {@link #await}
   * @throws RemoteAccessException if the memory is not exposed for writes, or no longer; thrown
   *     here or by {@link #await}, see Failed operations above. After a revocation nothing is
   *     written
   * @throws OperationInterruptedException if the thread was interrupted while it waited; see After
   *     a timeout or an interrupt above
   */
  long write(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length);

  /**
   * Starts the operation as {@link #write} does, and waits for its start for the timeout at most.
   *
   * @param local as for {@link #write}
   * @param localOffset as for {@link #write}
   * @param remote as for {@link #write}
   * @param remoteOffset as for {@link #write}
   * @param length as for {@link #write}
   * @param timeout the maximum time to wait; zero or less does not wait
   * @return the operation's id
   * @throws OperationTimeoutException if it has not started as a whole within the timeout; some
   *     bytes may be written unless it is zero or less, see After a timeout above
   * @throws IllegalArgumentException with a timeout of zero or less, as for {@link #tryWrite}
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
   * @return the operation's id; 0 if it cannot start at once
   * @throws IllegalArgumentException if the transport cannot start an operation of that length
   *     without waiting; use {@link #write}. By {@code mmap} over shared memory the limit is 64
   *     KiB, or about an eighth of {@code rmaBuffer} if that is less; over RDMA it is 1 GiB for
   *     each free request, at most 28 GiB
   */
  long tryWrite(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length);

  /**
   * Reads from the peer's memory. Waits while the operation cannot start.
   *
   * @param local the target; its content is undefined until the operation is complete
   * @param localOffset the offset in the target, in bytes
   * @param remote the source
   * @param remoteOffset the offset in the source, in bytes; need not be aligned
   * @param length the number of bytes; may be 0
   * @return the operation's id, for {@link #await}
   * @throws RemoteAccessException as for {@link #write}, if the memory is not exposed for reads
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
   * Starts the operation as {@link #read} does, and waits for its start for the timeout at most.
   *
   * @param local as for {@link #read}
   * @param localOffset as for {@link #read}
   * @param remote as for {@link #read}
   * @param remoteOffset as for {@link #read}
   * @param length as for {@link #read}
   * @param timeout the maximum time to wait; zero or less does not wait
   * @return the operation's id
   * @throws OperationTimeoutException likewise; some bytes may be read unless it is zero or less
   * @throws IllegalArgumentException with a timeout of zero or less, as for {@link #tryRead}
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
   * @return the operation's id; 0 if it cannot start at once
   * @throws IllegalArgumentException if the transport cannot start an operation of that length
   *     without waiting, with the limits of {@link #tryWrite}; use {@link #read}
   */
  long tryRead(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long length);

  /**
   * Atomically adds to a word of the peer's memory, and stores the previous value in local memory.
   * Waits while the operation cannot start. See Atomic operations above.
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
   * @throws RemoteAccessException as for {@link #write}, if the memory is not exposed for atomic
   *     operations
   * @throws UnsupportedOperationException if this side's device has no atomic operations
   * @throws OperationInterruptedException if the thread was interrupted while it waited; the word
   *     is not changed
   */
  long fetchAndAdd(
      RegisteredMemory local,
      long localOffset,
      RemoteMemory remote,
      long remoteOffset,
      long addend);

  /**
   * Starts the operation as {@link #fetchAndAdd} does, and waits for its start for the timeout at
   * most.
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
   * @return the operation's id; 0 if it cannot start at once
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
   * Starts the operation as {@link #compareAndSwap} does, and waits for its start for the timeout
   * at most.
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
   * @return the operation's id; 0 if it cannot start at once
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
   * sees the bytes of this write and of all earlier writes of this Rma. Waits for space for the
   * message and, except over RDMA, until these writes are complete. Uses {@link
   * Connection#sender()}, also its thread rule. There is no form with a timeout: a program that
   * must not wait calls {@link #tryWrite}, {@link #isComplete} and then {@link
   * Sender#trySend(MemorySegment)}.
   *
   * @param local as for {@link #write}
   * @param localOffset as for {@link #write}
   * @param remote as for {@link #write}
   * @param remoteOffset as for {@link #write}
   * @param length as for {@link #write}
   * @param message the message, which is copied
   * @return the write's id
   * @throws RemoteAccessException if this write has failed or, over shared memory, an earlier
   *     operation whose failure was not reported; the message is not sent. For the latter, the
   *     write itself may have taken effect. Over RDMA a failed write ends the connection, and the
   *     message does not arrive
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
   * Orders operations: all earlier ones take effect, or fail, before any later one begins. May wait
   * until they are complete, except over RDMA; a program that must not wait checks that by {@link
   * #isComplete}. Does not order messages, and reports no failure of an operation.
   */
  void fence();

  /**
   * {@return whether an operation and all earlier ones are complete: the bytes are written, or the
   * local memory contains the bytes read or the previous value, and the local memory may be reused}
   * Does not wait. The peer's program sees the bytes when it receives a message that is sent over
   * this connection after that. Over RDMA a notification by any other way may overtake them: the
   * peer's device has acknowledged the bytes, but may not have stored them yet.
   *
   * @param id an id that this Rma returned
   * @throws RemoteAccessException if an operation up to the id has failed, and this was not
   *     reported
   */
  boolean isComplete(long id);

  /**
   * Waits until an operation and all earlier ones are complete.
   *
   * @param id an id that this Rma returned
   * @throws RemoteAccessException as for {@link #isComplete}
   */
  void await(long id);

  /**
   * Waits as {@link #await(long)} does, for the given timeout at most.
   *
   * @param id an id that this Rma returned
   * @param timeout the maximum time to wait; zero or less does not wait
   * @throws OperationTimeoutException if the operation was not complete within the timeout: it
   *     continues, and uses the local memory until it is complete
   */
  void await(long id, Duration timeout);
}
