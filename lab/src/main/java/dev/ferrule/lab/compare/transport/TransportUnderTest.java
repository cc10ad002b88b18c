// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.transport;

import java.nio.file.Path;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A transport to compare, between two processes of one host. */
public interface TransportUnderTest {

  /** Returns the short name, for options and results. */
  String name();

  /** Returns the library with its version, and how it is used. */
  String version();

  /** {@return whether several messages may be in flight: false if there is no rate to measure} */
  default boolean hasRate() {
    return true;
  }

  /** {@return the supported modes, at least one} */
  Set<Mode> modes();

  /**
   * {@return whether both sides must be in one process: false if two processes can be connected}
   */
  default boolean isWithinProcess() {
    return false;
  }

  /**
   * Creates the server's side, with its files in an empty directory that both sides see. A witness
   * receives a copy of each message that arrives; without it the transport is at full speed.
   */
  Listening listen(Mode mode, Path directory, @Nullable Consumer<byte[]> witness);

  /** Creates the client's side, for the address that the server's {@link Listening} has. */
  Transport connect(Mode mode, String address, @Nullable Consumer<byte[]> witness);
}
