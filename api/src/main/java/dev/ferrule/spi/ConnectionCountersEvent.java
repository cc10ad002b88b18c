// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

@Name("dev.ferrule.ConnectionCounters")
@Label("Connection Counters")
@Category("Ferrule")
@Description("Counters of an open connection")
@Period("1 s")
@StackTrace(false)
final class ConnectionCountersEvent extends Event {

  /**
   * The value of a counter that the transport cannot maintain. A field of an event cannot be empty.
   * Flight Recorder's own events use this value for "not available", and {@code jfr print} shows it
   * as "N/A".
   */
  static final long NOT_COUNTED = Long.MIN_VALUE;

  @Label("URI")
  @Nullable String uri;

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

  @Label("Acknowledgements")
  long acknowledgements;

  @Label("Retransmissions")
  @Description("N/A (Long.MIN_VALUE) if the transport does not count them")
  long retransmissions;

  @Label("Wake-ups Sent")
  @Description("N/A (Long.MIN_VALUE) if the transport does not count them")
  long wakeupsSent;

  @Label("Wake-ups Received")
  long wakeupsReceived;
}
