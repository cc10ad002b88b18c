// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import dev.ferrule.AddressInUseException;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.ConnectionRejectedException;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.InvalidAddressException;
import dev.ferrule.InvalidOptionException;
import dev.ferrule.MessageTooLongException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.PeerLostException;
import dev.ferrule.ProtocolException;
import dev.ferrule.ProviderUnavailableException;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.VersionMismatchException;

/** The exit codes of the {@code ferrule} command, on which scripts may rely. */
public final class ExitCode {

  /** Success. */
  public static final int OK = 0;

  /** Any other failure. */
  public static final int FAILED = 1;

  /** A usage error. */
  public static final int USAGE = 2;

  /** The connection could not be established. */
  public static final int NO_CONNECTION = 3;

  /** The connection ended too early. */
  public static final int CONNECTION_LOST = 4;

  /** A resource limit. */
  public static final int NO_RESOURCE = 5;

  /** No provider. */
  public static final int NO_PROVIDER = 6;

  /**
   * The reader of the standard output stream has exited. A process killed by SIGPIPE has the same
   * exit code.
   */
  public static final int BROKEN_PIPE = 141;

  private ExitCode() {}

  /** {@return the codes with their meanings, in order, in picocli's format for help texts} */
  public static String[] descriptions() {
    return new String[] {
      "0:success",
      "1:any other failure, such as a file that cannot be read",
      "2:usage error: an invalid option, value or address, or a message that is too long",
      "3:no connection: connection refused (no listener), rejected or timed out, or a version"
          + " mismatch",
      "4:the connection ended too early: the peer died, closed it or violated the protocol",
      "5:out of resources: shared memory is full, a limit is reached, or the address is in use",
      "6:no provider for the address, or it does not work on this machine ('ferrule doctor')",
      "130, 143:ended by SIGINT (Ctrl-C) or SIGTERM",
      "141:the reader of the output has exited, as in '| head'"
    };
  }

  /**
   * {@return the exit code of a failure, never {@link #OK}}
   *
   * @param failure the exception
   */
  public static int of(Throwable failure) {
    return switch (failure) {
      case ToolException tool -> tool.exitCode();
      case InvalidAddressException _, InvalidOptionException _, MessageTooLongException _ -> USAGE;
      case ConnectionRefusedException _, ConnectionRejectedException _ -> NO_CONNECTION;
      case OperationTimeoutException _, VersionMismatchException _ -> NO_CONNECTION;
      case PeerLostException _, ConnectionClosedException _ -> CONNECTION_LOST;
      case EndOfStreamException _, ProtocolException _ -> CONNECTION_LOST;
      case ResourceExhaustedException _, AddressInUseException _ -> NO_RESOURCE;
      case ProviderUnavailableException _ -> NO_PROVIDER;
      default -> FAILED;
    };
  }
}
