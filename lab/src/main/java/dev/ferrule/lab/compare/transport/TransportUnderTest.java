// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.transport;

import java.nio.file.Path;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A transport to compare, between two processes of one host. */
public interface TransportUnderTest {

  /**
   * Returns the short name, for options and results.
   *
   * @return a word
   */
  String name();

  /**
   * Returns the version measured.
   *
   * @return the library with its version, and how it is used
   */
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
   * Creates the server's side.
   *
   * @param mode how the connection will be used, one of {@link #modes}
   * @param directory an empty directory for its files, visible to both sides
   * @param witness receives a copy of each message that arrives; null for full speed
   * @return the listener for the client
   */
  Listening listen(Mode mode, Path directory, @Nullable Consumer<byte[]> witness);

  /**
   * Creates the client's side.
   *
   * @param mode the same as the server's
   * @param address the server's {@link Listening#address}
   * @param witness receives a copy of each message that arrives; null for full speed
   * @return the client's end
   */
  Transport connect(Mode mode, String address, @Nullable Consumer<byte[]> witness);
}
