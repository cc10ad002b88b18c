// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.nio.channels.SelectableChannel;

/**
 * Readiness notification for event loops: a file descriptor for epoll(7), and a channel for a
 * {@link java.nio.channels.Selector}, which are readable while a {@link Connection} or a {@link
 * Listener} has something for the program. It is requested at connection setup, by the option
 * {@link StandardOptions#READINESS}, because each time that the program has found nothing costs a
 * wake-up: a system call of the peer over shared memory, an event of this side's device over RDMA.
 *
 * {@snippet lang=java :
 * ConnectionOptions options =
 *     ConnectionOptions.builder().set(StandardOptions.READINESS, Readiness.Interest.RECEIVE).build();
 * MessageHandler print =
 *     (segment, offset, length) ->
 *         System.out.println(length + " bytes"); // 5 bytes
 * try (Listener listener = Ferrule.listen(URI.create("sm:///tmp/ferrule-readiness"), options);
 *     Selector selector = Selector.open()) {
 *   var connecting = CompletableFuture.supplyAsync(() -> Ferrule.connect(listener.uri()));
 *   try (Connection server = listener.accept();
 *       Connection client = connecting.join()) {
 *     server.readiness().channel().register(selector, SelectionKey.OP_READ, server.receiver());
 *     client.sender().send(MemorySegment.ofArray("hello".getBytes()));
 *     selector.select(
 *         key -> {
 *           Receiver ready = (Receiver) key.attachment();
 *           while (ready.poll(print, 16) > 0) {} // the poll that finds nothing requests the next wake-up
 *         });
 *   }
 * }
 * }
 *
 * <p><b>Level-triggered:</b> descriptor and channel stay readable until the program has looked and
 * found nothing, as with a socket. For a connection, what may be found is
 *
 * <ul>
 *   <li>a message: nothing is found when {@link Receiver#poll} returns 0, {@link
 *       Receiver#tryReceive} returns null, or {@link Receiver#receive(java.time.Duration)} times
 *       out;
 *   <li>the end of the connection, for good;
 *   <li>with {@link Interest#ALL}, room for a message after {@link Sender#tryClaim} has returned
 *       null, or a claim has timed out: shown until a claim or a copy of at least that length
 *       succeeds (of the longest, if several found none), or another claim finds no room. Each
 *       Sender waits for itself: a claim or a copy by the same one counts. A program with several
 *       messages that wait tries the others again after one succeeds; one that drops the message
 *       claims and aborts. A loop that only sends must poll the receiver, too, until it finds
 *       nothing.
 * </ul>
 *
 * <p>For a listener, it is a waiting client (nothing is found when {@link Listener#tryNextRequest}
 * returns null, or {@code nextRequest} or {@code accept} times out) and, once the program has
 * called {@link Listener#receiver()}, a message for that.
 *
 * <p>Looking and finding nothing is also what requests the next wake-up, and looks once more after
 * the request. So a message is never missed, and no call is necessary before the program waits.
 * They are readable at first, as the program has not looked, and now and then without reason. After
 * that, looking without finding anything costs no system call until something has arrived. A call
 * that blocks may make them readable.
 *
 * <p><b>Threads:</b> any thread may call these methods.
 *
 * <p><b>Lifetime:</b> both are closed with the connection or listener. As with a socket, that does
 * not end the wait of another thread, unlike the peer's close; {@link
 * java.nio.channels.Selector#wakeup()} does. The program must not close them, read from them or
 * write to them.
 */
public interface Readiness {

  /** What makes a connection readable; the value of {@link StandardOptions#READINESS}. */
  enum Interest {
    /** Nothing: {@code readiness()} throws {@link IllegalStateException}. No cost. The default. */
    OFF,

    /** A message or the end of the connection; at a listener also a waiting client. */
    RECEIVE,

    /** In addition, room for a message after a claim has found none. */
    ALL
  }

  /**
   * Returns the file descriptor, for epoll(7), poll(2) or io_uring(7). It is opened by the first
   * call.
   *
   * @return the number of the descriptor; always the same one
   * @throws ConnectionClosedException if the connection or listener is closed
   * @throws ResourceExhaustedException if the process has no descriptor left
   */
  int descriptor();

  /**
   * Returns the channel, for {@link java.nio.channels.Selector} and event loops that are built on
   * it, such as Netty's NIO transport; to be registered with {@link
   * java.nio.channels.SelectionKey#OP_READ}. It is the read end of a pipe, opened by the first
   * call, and costs two file descriptors, and a call of write and one of read for each wake-up.
   *
   * @return the channel, non-blocking; always the same object
   * @throws ConnectionClosedException if the connection or listener is closed
   * @throws ResourceExhaustedException if the process has no descriptor left
   */
  SelectableChannel channel();
}
