// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.rdma.queue.Channel;
import dev.ferrule.rdma.queue.QueueCallbacks;
import dev.ferrule.support.Lifecycle;
import dev.ferrule.verbs.AsyncEvent;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.cm.CmEvent;
import org.jspecify.annotations.Nullable;

/**
 * Handles the events of a connection, which the queues, the connection manager and the device
 * report: wakes its threads, or ends the connection and states the reason.
 *
 * <p><b>Threads:</b> any thread that polls, and the event loop.
 */
final class ConnectionEvents implements QueueCallbacks {

  /**
   * Whether the thread is taking the completions of a failed connection. Connections that share a
   * receive queue may all fail at once. Without this check, handling one failure would take the
   * completions of the next, and the calls would nest as deep as there are connections.
   */
  private static final ThreadLocal<Boolean> TAKING_END = ThreadLocal.withInitial(() -> false);

  private final RdmaConnection connection;
  private final Lifecycle life;
  private final RdmaProtocol protocol;
  private final boolean flowControlled;

  private volatile boolean peerGone;
  private volatile boolean lastRequestReached;

  ConnectionEvents(
      RdmaConnection connection, Lifecycle life, RdmaProtocol protocol, boolean flowControlled) {
    this.connection = connection;
    this.life = life;
    this.protocol = protocol;
    this.flowControlled = flowControlled;
  }

  /** Returns the events of a channel's connection. */
  static ConnectionEvents of(Channel channel) {
    return (ConnectionEvents) channel.callbacks(); // the only implementation
  }

  RdmaConnection connection() {
    return connection;
  }

  Lifecycle life() {
    return life;
  }

  /** Returns whether outstanding work requests will never be acknowledged. */
  boolean isPeerGone() {
    return peerGone;
  }

  /** Returns whether the queue pair takes no more receives of its shared receive queue. */
  boolean isLastRequestReached() {
    return lastRequestReached;
  }

  @Override
  public void onProgress() {
    connection.wake();
  }

  @Override
  public void onRoom() {
    connection.wakeSenders();
  }

  /** Handles an event of the connection manager, after the handshake. By the event loop. */
  void onCmEvent(CmEvent event) {
    switch (event.type()) {
      case DISCONNECTED -> {
        // All earlier messages of the peer have arrived, including the goodbye.
        takeEnd();
        peerGone = true;
        Channel channel = connection.channel();
        if (channel.isGoodbyeSaid() || !channel.sends().controls().saysGoodbye()) {
          life.closedByPeer();
        } else {
          life.lost(
              "the peer disconnected without closing the connection (its process ended, or an error"
                  + " on its side ended the connection)");
        }
      }
      case DEVICE_REMOVAL -> life.lost("the RDMA device is being removed from this host");
      case ADDRESS_CHANGE -> life.lost("the address of the RDMA device has changed");
      default -> {} // of the handshake, or after the end
    }
  }

  /** Handles an event of the queues or the device. By the event loop. */
  void onAsyncEvent(AsyncEvent event) {
    switch (event.type()) {
      case DEVICE_FATAL -> life.lost("the RDMA device reports a fatal error, or is gone");
      case QUEUE_PAIR_FATAL, QUEUE_PAIR_REQUEST_ERROR, QUEUE_PAIR_ACCESS_ERROR -> {
        // the completions, if any, state the cause
        connection.channel().sends().pollAndReport();
        takeEnd();
        life.lost("the queue pair reports an error: " + event.type());
      }
      case COMPLETION_QUEUE_ERROR, SHARED_RECEIVE_QUEUE_ERROR, WORK_QUEUE_FATAL ->
          life.lost("a queue of the connection reports an error: " + event.type());
      case LAST_WORK_REQUEST_REACHED -> lastRequestReached = true;
      default -> {} // other events do not end the connection
    }
  }

  /**
   * Ends the connection if a completed receive is a reason for it, as the program may never poll.
   */
  private void takeEnd() {
    if (!TAKING_END.get()) {
      TAKING_END.set(true);
      try {
        connection.drain();
      } finally {
        TAKING_END.remove();
      }
    }
    connection.channel().reportEnd();
  }

  @Override
  public void onGoodbye() {
    peerGone = true;
    life.closedByPeer();
  }

  @Override
  public void onSendFailure(CompletionStatus status, int vendorError) {
    takeEndIfFlushed(status);
    onFailure(status, vendorError, protocol.violationOfSend(status));
  }

  /**
   * Ends the connection. A refused access is no proof of a protocol violation: the kernel of a
   * process that ends deregisters exposed memory before it destroys the queue pair.
   */
  @Override
  public void onAccessFailure(CompletionStatus status, int vendorError) {
    takeEndIfFlushed(status);
    if (status == CompletionStatus.REMOTE_ACCESS_ERROR) {
      life.lost(
          "the peer's device refused a remote memory access: the peer's process has ended, or the"
              + " peer has not exposed the memory that it announced: "
              + status.text()
              + codes(status, vendorError));
    } else {
      onFailure(status, vendorError, null);
    }
  }

  private void takeEndIfFlushed(CompletionStatus status) {
    if (status == CompletionStatus.FLUSHED && !life.hasEnded()) {
      takeEnd(); // a flushed request has no cause of its own
    }
  }

  @Override
  public void onReceiveFailure(CompletionStatus status, int vendorError) {
    onFailure(status, vendorError, protocol.violationOfReceive(status));
  }

  private void onFailure(CompletionStatus status, int vendorError, @Nullable String violation) {
    if (life.hasEnded()) {
      return;
    }
    String text = status.text();
    String codes = codes(status, vendorError);
    switch (status) {
      case RETRY_EXCEEDED, RESPONSE_TIMEOUT ->
          life.lost(
              text
                  + (flowControlled
                      ? " (its host is dead, the link is cut, or a software device has no processor); see"
                          + " the options ackTimeout and retries"
                      : ": its host is dead, the link is cut, or a software device has no processor; or its program has no receive"
                          + " posted (RNR), and the RNR timer of its device is longer than"
                          + " ackTimeout: raise ackTimeout or retries, or post receives at the"
                          + " peer")
                  + codes);
      case RNR_RETRY_EXCEEDED ->
          life.lost(text + "; " + protocol.texts().receiverNotReady() + codes);
      case FLUSHED -> { // without a known cause
        if (connection.channel().isGoodbyeSaid()) {
          life.closedByPeer();
        } else {
          life.lost(
              "the device ended the connection without a reported cause (the peer's process may have"
                  + " ended): "
                  + text
                  + codes);
        }
      }
      default -> {
        if (violation != null) {
          life.broken(violation + ": " + text + codes);
        } else if (status == CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR) {
          life.lost(
              text
                  + "; the device may have lost its address, or the route to the peer: check them"
                  + " with ip addr and ip route"
                  + codes);
        } else {
          life.lost("a work request failed: " + text + codes);
        }
      }
    }
  }

  private static String codes(CompletionStatus status, int vendorError) {
    return " (" + status + ", vendor error " + vendorError + ")";
  }

  @Override
  public void onViolation(String reason) {
    life.broken("protocol violation by the peer: " + reason + "; the connection was closed");
  }

  @Override
  public void onCallFailure(String function, int errno) {
    if (life.hasEnded()) {
      return;
    }
    VerbsException failure = new VerbsException(function, "", errno);
    String reason = String.valueOf(failure.getMessage());
    if (RdmaFailures.of(connection.uri(), failure)
        instanceof ResourceExhaustedException exhausted) {
      life.fail(exhausted, reason);
    } else {
      life.lost(reason); // the device failed or is gone
    }
  }

  @Override
  public void onFault(String reason) {
    life.lost(reason);
  }
}
