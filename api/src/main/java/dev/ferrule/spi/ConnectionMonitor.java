// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionCounters;
import dev.ferrule.FerruleException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/**
 * Publishes connections to JDK Flight Recorder: an event when a connection opens, one when it ends,
 * and the counters of every open connection at the recording's period ({@code
 * dev.ferrule.ConnectionOpened}, {@code dev.ferrule.ConnectionEnded}, {@code
 * dev.ferrule.ConnectionCounters}). A counter that the transport cannot maintain is {@code
 * Long.MIN_VALUE}, which {@code jfr print} shows as "N/A". There is no cost per message; providers
 * call this class when they open and close a connection.
 *
 * <p><b>Threads:</b> any thread may call these methods.
 */
public final class ConnectionMonitor {

  private static final long NOT_COUNTED = Long.MIN_VALUE; // as in Flight Recorder's own events

  private static final Set<Connection> OPEN = ConcurrentHashMap.newKeySet();

  // An event class is not used before a recording starts: the JVM registers it when it is
  // initialized, which takes as long as the rest of a first connection
  static {
    if (FlightRecorder.isAvailable()) {
      FlightRecorder.addListener(new OnFirstRecording());
    }
  }

  private static final class OnFirstRecording implements FlightRecorderListener {
    @Override
    public void recorderInitialized(FlightRecorder recorder) {
      FlightRecorder.register(ConnectionOpenedEvent.class);
      FlightRecorder.register(ConnectionEndedEvent.class);
      FlightRecorder.addPeriodicEvent(
          ConnectionCountersEvent.class, ConnectionMonitor::emitCounters);
    }
  }

  private ConnectionMonitor() {}

  /**
   * Reports that a connection was opened.
   *
   * @param connection the connection; {@link #ended} must be called for it later
   */
  public static void opened(Connection connection) {
    OPEN.add(connection);
    if (FlightRecorder.isInitialized()) {
      ConnectionOpenedEvent event = new ConnectionOpenedEvent();
      event.uri = connection.uri().toString();
      event.commit();
    }
  }

  /**
   * Reports that a connection has ended. Further calls for the same connection do nothing.
   *
   * @param connection the connection, whose state and failure must be final
   */
  public static void ended(Connection connection) {
    if (!OPEN.remove(connection) || !FlightRecorder.isInitialized()) {
      return;
    }
    FerruleException failure = connection.failure();
    ConnectionCounters counters = connection.counters();
    ConnectionEndedEvent event = new ConnectionEndedEvent();
    event.uri = connection.uri().toString();
    event.state = connection.state().name();
    event.failure = failure == null ? null : failure.getMessage();
    event.messagesSent = counters.messagesSent();
    event.messagesReceived = counters.messagesReceived();
    event.commit();
  }

  private static void emitCounters() {
    for (Connection connection : OPEN) {
      ConnectionCountersEvent event = new ConnectionCountersEvent();
      if (event.shouldCommit()) {
        ConnectionCounters counters = connection.counters();
        event.uri = connection.uri().toString();
        event.messagesSent = counters.messagesSent();
        event.bytesSent = counters.bytesSent();
        event.messagesReceived = counters.messagesReceived();
        event.bytesReceived = counters.bytesReceived();
        event.backPressureStalls = counters.backPressureStalls();
        event.acknowledgments = counters.acknowledgments();
        event.retransmissions = counters.retransmissions().orElse(NOT_COUNTED);
        event.wakeupsSent = counters.wakeupsSent().orElse(NOT_COUNTED);
        event.wakeupsReceived = counters.wakeupsReceived();
        event.rmaPath = counters.rmaPath().orElse(null);
        event.commit();
      }
    }
  }

  private abstract static class ConnectionEvent extends Event {
    @Label("URI")
    @Nullable String uri;
  }

  @Name("dev.ferrule.ConnectionOpened")
  @Label("Connection Opened")
  @Category("Ferrule")
  @Description("A connection was opened, by connect or accept")
  @StackTrace(false)
  private static final class ConnectionOpenedEvent extends ConnectionEvent {}

  @Name("dev.ferrule.ConnectionEnded")
  @Label("Connection Ended")
  @Category("Ferrule")
  @Description("A connection was closed by either side, or failed")
  @StackTrace(false)
  private static final class ConnectionEndedEvent extends ConnectionEvent {
    @Label("State")
    @Nullable String state;

    @Label("Failure")
    @Nullable String failure;

    @Label("Messages Sent")
    long messagesSent;

    @Label("Messages Received")
    long messagesReceived;
  }

  @Name("dev.ferrule.ConnectionCounters")
  @Label("Connection Counters")
  @Category("Ferrule")
  @Description("Counters of an open connection")
  @Period("1 s")
  @StackTrace(false)
  private static final class ConnectionCountersEvent extends ConnectionEvent {
    @Label("Messages Sent")
    long messagesSent;

    @Label("Bytes Sent")
    @DataAmount
    long bytesSent;

    @Label("Messages Received")
    long messagesReceived;

    @Label("Bytes Received")
    @DataAmount
    long bytesReceived;

    @Label("Back Pressure Stalls")
    long backPressureStalls;

    @Label("Acknowledgments")
    long acknowledgments;

    @Label("Retransmissions")
    @Description("N/A (Long.MIN_VALUE) if the transport does not count them")
    long retransmissions;

    @Label("Wake-ups Sent")
    @Description("N/A (Long.MIN_VALUE) if the transport does not count them")
    long wakeupsSent;

    @Label("Wake-ups Received")
    long wakeupsReceived;

    @Label("RMA Path")
    @Description(
        "The mechanism that copies the bytes of one-sided operations; N/A if there is none")
    @Nullable String rmaPath;
  }
}
