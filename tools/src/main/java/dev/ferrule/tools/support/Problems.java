// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import dev.ferrule.spi.PlainText;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reports a command's problems in one line each, whatever their text contains. */
public final class Problems {

  private static final Pattern ADDRESS = Pattern.compile("\\b[a-z]+:/\\S*: ");

  private Problems() {}

  /**
   * Reports a problem of the {@code ferrule} command.
   *
   * @param err the standard error stream
   * @param problem the description; as in {@link #print(PrintWriter, String, String)}
   */
  public static void print(PrintWriter err, @Nullable String problem) {
    print(err, "ferrule", problem);
  }

  /**
   * Reports a problem.
   *
   * @param err the standard error stream
   * @param command the name of the command, which starts the line
   * @param problem the description; line breaks become spaces, and other control characters, which
   *     may come from a peer or from a file's name, are escaped
   */
  public static void print(PrintWriter err, String command, @Nullable String problem) {
    err.println(command + ": " + oneLine(problem));
  }

  /**
   * {@return the message of a failure, or the name of its class if it has none}
   *
   * @param failure the failure
   */
  public static String reason(Throwable failure) {
    return failure.getMessage() == null ? failure.toString() : failure.getMessage();
  }

  /**
   * {@return why an operation on a file has failed, without the file's name and without the name of
   * a class}
   *
   * @param failure the failure
   */
  public static String reason(IOException failure) {
    return switch (failure) {
      case AccessDeniedException _ -> "permission denied";
      case NoSuchFileException _ -> "no such file";
      case FileSystemException e when e.getReason() != null -> e.getReason();
      default -> reason((Throwable) failure);
    };
  }

  /**
   * {@return a text as one line that is safe for a terminal}
   *
   * @param text the text, such as the message of an exception; may be null
   */
  public static String oneLine(@Nullable String text) {
    return PlainText.of(String.valueOf(text).strip().replaceAll("\\s*\\R\\s*", " "));
  }

  /**
   * {@return a text without the addresses that precede reasons. This is for servers that the
   * command has started: the user has not given their addresses, which differ between runs}
   *
   * @param problem the description
   */
  public static String withoutAddresses(String problem) {
    return ADDRESS.matcher(problem).replaceAll("");
  }
}
