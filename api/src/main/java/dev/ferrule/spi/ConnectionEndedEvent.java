// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

@Name("dev.ferrule.ConnectionEnded")
@Label("Connection Ended")
@Category("Ferrule")
@Description("A connection was closed by either side, or failed")
@StackTrace(false)
final class ConnectionEndedEvent extends Event {
  @Label("URI")
  @Nullable String uri;

  @Label("State")
  @Nullable String state;

  @Label("Failure")
  @Nullable String failure;

  @Label("Messages Sent")
  long messagesSent;

  @Label("Messages Received")
  long messagesReceived;
}
