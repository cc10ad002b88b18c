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
@Description("What an open connection has done so far")
@Period("1 s")
@StackTrace(false)
final class ConnectionCountersEvent extends Event {
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
  long retransmissions;

  @Label("RNR NAKs")
  long rnrNaks;

  @Label("Wake-ups Sent")
  long wakeupsSent;

  @Label("Wake-ups Received")
  long wakeupsReceived;
}
