// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.logging.Handler;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.SimpleFormatter;

/**
 * Prints what the providers log, such as a warning of a directory that is open to all users, as the
 * command prints its own problems: in one line each. By default Java prints two.
 */
public final class LogLines extends Handler {

  private static final String CONFIGURATION_CLASS = "java.util.logging.config.class";
  private static final String CONFIGURATION_FILE = "java.util.logging.config.file";

  private static volatile String command = "ferrule";

  private final SimpleFormatter formatter = new SimpleFormatter();
  private final PrintWriter err = new PrintWriter(System.err, true);

  /** Made by Java's logging. */
  public LogLines() {}

  /**
   * Lets this process print so, unless the user has configured Java's logging. Takes effect when
   * something is logged first, so that a command that logs nothing does not load it.
   *
   * @param name the name of the command, which the lines begin with
   */
  public static void install(String name) {
    command = name;
    if (System.getProperty(CONFIGURATION_CLASS) == null
        && System.getProperty(CONFIGURATION_FILE) == null) {
      System.setProperty(CONFIGURATION_CLASS, Configuration.class.getName());
    }
  }

  /** Configures Java's logging, which makes one of these when it begins. */
  public static final class Configuration {

    /**
     * Made by Java's logging.
     *
     * @throws IOException never
     */
    public Configuration() throws IOException {
      String properties = "handlers=" + LogLines.class.getName() + "\n.level=INFO\n";
      LogManager.getLogManager()
          .readConfiguration(
              new ByteArrayInputStream(properties.getBytes(StandardCharsets.ISO_8859_1)));
    }
  }

  @Override
  public void publish(LogRecord record) {
    if (isLoggable(record)) {
      String message = formatter.formatMessage(record);
      Throwable thrown = record.getThrown();
      StatusLine.onTerminal().clear();
      Problems.print(err, command, thrown == null ? message : message + ": " + thrown);
    }
  }

  @Override
  public void flush() {
    err.flush();
  }

  @Override
  public void close() {
    flush(); // the stream is the process's
  }
}
