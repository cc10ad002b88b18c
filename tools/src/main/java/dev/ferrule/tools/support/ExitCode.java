// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import dev.ferrule.AddressInUseException;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.ConnectionRejectedException;
import dev.ferrule.InvalidAddressException;
import dev.ferrule.InvalidOptionException;
import dev.ferrule.MessageTooLongException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.PeerLostException;
import dev.ferrule.ProtocolException;
import dev.ferrule.ProviderUnavailableException;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.VersionMismatchException;
import java.util.LinkedHashMap;
import java.util.Map;

/** The exit codes of the {@code ferrule} command, which scripts may rely on. */
public final class ExitCode {

  /** All went well. */
  public static final int OK = 0;

  /** What has no code of its own. */
  public static final int FAILED = 1;

  /** The user's mistake. */
  public static final int USAGE = 2;

  /** There never was a connection. */
  public static final int NO_CONNECTION = 3;

  /** There was a connection, and it ended too early. */
  public static final int CONNECTION_LOST = 4;

  /** The system's limits. */
  public static final int NO_RESOURCE = 5;

  /** No provider. */
  public static final int NO_PROVIDER = 6;

  /** The reader of the standard output stream has gone; a shell says so of SIGPIPE. */
  public static final int BROKEN_PIPE = 141;

  private ExitCode() {}

  /**
   * Returns what each code says, for the command's help.
   *
   * @return the codes and their meanings, in order
   */
  public static Map<String, String> descriptions() {
    Map<String, String> codes = new LinkedHashMap<>();
    codes.put(text(OK), "all went well");
    codes.put(
        text(FAILED), "a failure that has no code of its own, such as a file that cannot be read");
    codes.put(
        text(USAGE),
        "the command line is wrong: an option, a value, an address, or a message that is too long");
    codes.put(
        text(NO_CONNECTION),
        "no connection: nobody listens, or the listener said no, did not answer or is another"
            + " version");
    codes.put(
        text(CONNECTION_LOST),
        "the connection ended too early: the peer died, closed it or broke the protocol");
    codes.put(
        text(NO_RESOURCE),
        "the system lacks a resource: shared memory is full, a limit is reached, the address is"
            + " taken");
    codes.put(
        text(NO_PROVIDER),
        "there is no provider for the address, or it cannot work here (see 'ferrule doctor')");
    codes.put("130, 143", "ended by SIGINT (Ctrl-C), SIGTERM");
    codes.put(text(BROKEN_PIPE), "the reader of the output has gone, as after '| head'");
    return codes;
  }

  private static String text(int code) {
    return Integer.toString(code);
  }

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
    if (failure instanceof InvalidAddressException
        || failure instanceof InvalidOptionException
        || failure instanceof MessageTooLongException) {
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
