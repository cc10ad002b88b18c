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
 * Prints the providers' log records, such as a warning about a world-writable directory, in the
 * format of the command's own problems: one line each. By default Java prints two lines.
 */
public final class LogLines extends Handler {

  private static final String CONFIGURATION_CLASS = "java.util.logging.config.class";
  private static final String CONFIGURATION_FILE = "java.util.logging.config.file";

  private static volatile String command = "ferrule";

  private final SimpleFormatter formatter = new SimpleFormatter();
  private final PrintWriter err = new PrintWriter(System.err, true);

  /** Called by Java's logging. */
  public LogLines() {}

  /**
   * Installs this handler, unless the user has configured Java's logging. The first log record
   * loads it, so a command that logs nothing does not.
   *
   * @param name the name of the command, which starts each line
   */
  public static void install(String name) {
    command = name;
    if (System.getProperty(CONFIGURATION_CLASS) == null
        && System.getProperty(CONFIGURATION_FILE) == null) {
      System.setProperty(CONFIGURATION_CLASS, Configuration.class.getName());
    }
  }

  /** Configures Java's logging, which instantiates this class. */
  public static final class Configuration {

    /**
     * Called by Java's logging.
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
    flush(); // standard error stays open
  }
}
