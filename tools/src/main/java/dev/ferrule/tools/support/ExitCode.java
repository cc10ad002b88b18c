// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import dev.ferrule.AddressInUseException;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.ConnectionRejectedException;
import dev.ferrule.InvalidAddressException;
import dev.ferrule.InvalidOptionException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.PeerLostException;
import dev.ferrule.ProtocolException;
import dev.ferrule.ProviderUnavailableException;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.VersionMismatchException;

/** The exit codes of the {@code ferrule} command, which scripts may rely on. */
public final class ExitCode {

  /** All went well. */
  public static final int OK = 0;

  /** A failure that has no code of its own, such as a file that cannot be read or written. */
  public static final int FAILED = 1;

  /** The command line is wrong: an unknown option, an address or a value that is not valid. */
  public static final int USAGE = 2;

  /**
   * There is no connection: nobody listens, the listener said no, did not answer or is another
   * version.
   */
  public static final int NO_CONNECTION = 3;

  /**
   * The connection was there and ended too early: the peer died, closed it or broke the protocol.
   */
  public static final int CONNECTION_LOST = 4;

  /**
   * The system lacks a resource: shared memory is full, a limit is reached, the address is taken.
   */
  public static final int NO_RESOURCE = 5;

  /** There is no provider for the address, or it cannot work on this machine. */
  public static final int NO_PROVIDER = 6;

  private ExitCode() {}

  /**
   * Returns the code for what a command ended with.
   *
   * @param failure what was thrown
   * @return the exit code, never {@link #OK}
   */
  public static int of(Throwable failure) {
    if (failure instanceof ToolException tool) {
      return tool.exitCode();
    }
    if (failure instanceof InvalidAddressException || failure instanceof InvalidOptionException) {
      return USAGE;
    }
    if (failure instanceof ConnectionRefusedException
        || failure instanceof ConnectionRejectedException
        || failure instanceof OperationTimeoutException
        || failure instanceof VersionMismatchException) {
      return NO_CONNECTION;
    }
    if (failure instanceof PeerLostException
        || failure instanceof ConnectionClosedException
        || failure instanceof ProtocolException) {
      return CONNECTION_LOST;
    }
    if (failure instanceof ResourceExhaustedException || failure instanceof AddressInUseException) {
      return NO_RESOURCE;
    }
    if (failure instanceof ProviderUnavailableException) {
      return NO_PROVIDER;
    }
    return FAILED;
  }
}
