// SPDX-License-Identifier: Apache-2.0
/**
 * Point-to-point message connections between processes, over shared memory on one host and over
 * RDMA between hosts. The API is the same for every transport; the scheme of an address selects it.
 *
 * <p>This program has a server, which squares numbers for any number of clients, and a client. Each
 * side handles the death of the other:
 *
 * {@snippet lang=java :
 * import dev.ferrule.*;
 *
 * void main() {
 *   try (Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-squares"))) {
 *     Thread.startVirtualThread(() -> acceptClients(listener));
 *     ask(listener.uri()); // usually in another process
 *   }
 * }
 *
 * void acceptClients(Listener listener) {
 *   while (true) {
 *     try {
 *       Connection connection = listener.accept(); // waits
 *       Thread.startVirtualThread(() -> serve(connection));
 *     } catch (ResourceExhaustedException e) {
 *       System.err.println("a client was refused: " + e.getMessage()); // the next one may fit
 *     } catch (ConnectionClosedException e) {
 *       return; // the listener was closed
 *     }
 *   }
 * }
 *
 * void serve(Connection connection) {
 *   try (connection) {
 *     while (true) {
 *       try (ReceiveRegion request = connection.receiver().receive()) { // waits
 *         long number = request.segment().get(ValueLayout.JAVA_LONG, 0);
 *         try (SendRegion reply = connection.sender().claim(Long.BYTES)) { // waits for buffer space
 *           reply.segment().set(ValueLayout.JAVA_LONG, 0, number * number);
 *           reply.commit();
 *         }
 *       } // frees the request
 *     }
 *   } catch (EndOfStreamException | ConnectionClosedException e) {
 *     // the client has closed its connection
 *   } catch (PeerLostException | ProtocolException | IndexOutOfBoundsException e) {
 *     System.err.println("a client failed: " + e.getMessage()); // the other clients are still served
 *   }
 * }
 *
 * void ask(URI server) {
 *   try (Connection connection = Ferrule.connect(server)) {
 *     connection.sender().send(MemorySegment.ofArray(new long[] {7})); // a copy
 *     try (ReceiveRegion reply = connection.receiver().receive(Duration.ofSeconds(5))) {
 *       System.out.println(reply.segment().get(ValueLayout.JAVA_LONG, 0)); // 49
 *     }
 *   } catch (OperationTimeoutException e) {
 *     System.err.println("the server does not answer: " + e.getMessage()); // it may be busy
 *   } catch (EndOfStreamException | ConnectionClosedException | PeerLostException e) {
 *     System.err.println("the server is gone; connect again: " + e.getMessage());
 *   }
 * }
 * }
 *
 * <table>
 * <caption>The types, in the order in which a program needs them</caption>
 * <tr><th>type</th><th>use</th></tr>
 * <tr><td>{@link dev.ferrule.Ferrule}</td><td>connects and listens, by URI</td></tr>
 * <tr><td>{@link dev.ferrule.Listener}, {@link dev.ferrule.ConnectionRequest}</td>
 * <td>accept clients, or reject them</td></tr>
 * <tr><td>{@link dev.ferrule.Connection}</td>
 * <td>has the two halves below, and reports the end of the connection</td></tr>
 * <tr><td>{@link dev.ferrule.Sender}, {@link dev.ferrule.SendRegion}</td>
 * <td>send messages: copied, written in place, from registered memory, or in batches</td></tr>
 * <tr><td>{@link dev.ferrule.Receiver}, {@link dev.ferrule.ReceiveRegion}, {@link
 * dev.ferrule.MessageHandler}</td><td>receive messages in place</td></tr>
 * <tr><td>{@link dev.ferrule.FerruleException}</td><td>reports failures at run time</td></tr>
 * <tr><td>{@link dev.ferrule.ConnectionOptions}, {@link dev.ferrule.StandardOptions}, {@link
 * dev.ferrule.WaitStrategy}</td><td>set limits and timeouts, and how a call waits</td></tr>
 * <tr><td>{@link dev.ferrule.Readiness}</td><td>is for a Selector or epoll(7)</td></tr>
 * <tr><td>{@link dev.ferrule.RegisteredMemory}</td>
 * <td>is memory to send from, over RDMA without a copy</td></tr>
 * <tr><td>{@link dev.ferrule.Rma}, {@link dev.ferrule.ExposedMemory}, {@link
 * dev.ferrule.RmaHandle}, {@link dev.ferrule.RemoteMemory}</td>
 * <td>access the peer's memory without involving its program (one-sided)</td></tr>
 * <tr><td>{@link dev.ferrule.ConnectionCounters}, {@link dev.ferrule.ProviderInfo}</td>
 * <td>observe connections, and list the providers</td></tr>
 * </table>
 *
 * <p><b>Threads:</b> one thread at a time may use a Sender, a Receiver or an Rma, and different
 * threads may use the three. Any thread may use the other types, unless their page says otherwise.
 * {@link dev.ferrule.Connection} has the details, and a check for tests.
 *
 * <table>
 * <caption>The forms of a call that may have to wait</caption>
 * <tr><th>form</th><th>example</th><th>if it cannot proceed at once</th></tr>
 * <tr><td>waiting</td><td>{@code claim(length)}</td>
 * <td>waits without limit, while the connection or listener is open</td></tr>
 * <tr><td>with a Duration</td><td>{@code claim(length, timeout)}</td>
 * <td>waits for the timeout at most, then throws {@link dev.ferrule.OperationTimeoutException}</td></tr>
 * <tr><td>try</td><td>{@code tryClaim(length)}</td>
 * <td>returns null, or 0 instead of an id</td></tr>
 * </table>
 *
 * <p><b>Waiting:</b> a timeout of zero or less does not wait. A wait for a peer that dies ends with
 * {@link dev.ferrule.PeerLostException}. An interrupt, also an earlier one, ends a wait with {@link
 * dev.ferrule.OperationInterruptedException}; the connection remains usable. A virtual thread that
 * waits to send or to receive releases its carrier, except with {@link
 * dev.ferrule.WaitStrategy#SPIN}. {@code Receiver.poll} does not follow the table: with a Duration
 * or without, it returns 0 if there is no message.
 *
 * <p><b>Units:</b> lengths and offsets are in bytes. The byte order is that of the layouts by which
 * the program accesses a segment; a layout without one has the order of its own machine.
 *
 * <p><b>Memory:</b> regions belong to the connection, which takes them back when this side closes
 * it. {@link dev.ferrule.Connection} states what segments read that were kept beyond that.
 *
 * <p><b>Errors:</b> no exception is checked. {@link dev.ferrule.FerruleException} states which
 * conditions its subclasses report, and which the exceptions of the JDK. No argument may be null.
 */
@NullMarked
package dev.ferrule;

import org.jspecify.annotations.NullMarked;
