// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers.transport;

import java.nio.file.Path;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A way of carrying messages between two processes of one host. */
public interface Contender {

  /**
   * Returns the short name by which it is chosen and shown.
   *
   * @return a word
   */
  String name();

  /**
   * Returns what exactly is measured.
   *
   * @return the library with its version, and how it is used
   */
  String version();

  /**
   * Returns whether several messages may be on their way at a time.
   *
   * @return false if there is no rate to measure
   */
  default boolean hasRate() {
    return true;
  }

  /**
   * Returns the uses that it has a way for.
   *
   * @return at least one
   */
  Set<Mode> modes();

  /**
   * Returns whether both sides have to be in one process.
   *
   * @return false if two processes can be connected
   */
  default boolean isWithinProcess() {
    return false;
  }

  /**
   * Makes the server's side.
   *
   * @param mode how the connection will be used, one of {@link #modes}
   * @param directory an empty directory for its files, which both sides see
   * @param witness is given a copy of each message that arrives; null when it is to be fast
   * @return where the client may connect to
   */
  Listening listen(Mode mode, Path directory, @Nullable Consumer<byte[]> witness);

  /**
   * Makes the client's side.
   *
   * @param mode the same as the server's
   * @param address the server's {@link Listening#address}
   * @param witness is given a copy of each message that arrives; null when it is to be fast
   * @return the client's end
   */
  Transport connect(Mode mode, String address, @Nullable Consumer<byte[]> witness);
}
