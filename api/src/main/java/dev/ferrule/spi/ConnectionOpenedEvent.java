// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

@Name("dev.ferrule.ConnectionOpened")
@Label("Connection Opened")
@Category("Ferrule")
@Description("A connection was opened, by connect or accept")
@StackTrace(false)
final class ConnectionOpenedEvent extends Event {
  @Label("URI")
  @Nullable String uri;
}
