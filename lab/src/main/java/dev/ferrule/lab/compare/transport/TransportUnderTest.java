// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.transport;

import java.nio.file.Path;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A transport to compare, between two processes of one host. */
public abstract class TransportUnderTest {

  private final String name;
  private final String version;
  private final Set<Mode> modes;

  /**
   * Creates a transport.
   *
   * @param name a short name, for options and results
   * @param version the library with its version, and how it is used
   * @param modes the supported modes, at least one
   */
  TransportUnderTest(String name, String version, Set<Mode> modes) {
    this.name = name;
    this.version = version;
    this.modes = modes;
  }

  public final String name() {
    return name;
  }

  public final String version() {
    return version;
  }

  public final Set<Mode> modes() {
    return modes;
  }

  /** {@return whether several messages may be in flight: false if there is no rate to measure} */
  public boolean hasRate() {
    return true;
  }

  /**
   * {@return whether both sides must be in one process: false if two processes can be connected}
   */
  public boolean isWithinProcess() {
    return false;
  }

  /**
   * Creates the server's side, with its files in an empty directory that both sides see. A witness
   * receives a copy of each message that arrives, which slows the transport down.
   */
  public abstract Listening listen(Mode mode, Path directory, @Nullable Consumer<byte[]> witness);

  /** Creates the client's side, for the address that the server's {@link Listening} has. */
  public abstract Transport connect(Mode mode, String address, @Nullable Consumer<byte[]> witness);
}
