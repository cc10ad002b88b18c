// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * What one class logs, from now until this is closed. It is kept for a test to assert, and does not
 * go to standard error, where it would look like a problem of the test.
 */
public final class LoggedRecords implements AutoCloseable {

  private final Logger logger; // held here, as the system only keeps a weak reference
  private final boolean usesParents;
  private final List<LogRecord> records = new ArrayList<>(); // guarded by itself
  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord record) {
          synchronized (records) {
            records.add(record);
          }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  private LoggedRecords(Logger logger) {
    this.logger = logger;
    usesParents = logger.getUseParentHandlers();
    logger.setUseParentHandlers(false);
    logger.addHandler(handler);
  }

  /**
   * Starts to keep what a class logs.
   *
   * @param logging the class, whose logger has its name
   * @return the records, to be closed
   */
  public static LoggedRecords of(Class<?> logging) {
    return new LoggedRecords(Logger.getLogger(logging.getName()));
  }

  /**
   * Returns what was logged so far.
   *
   * @return a copy
   */
  public List<LogRecord> all() {
    synchronized (records) {
      return List.copyOf(records);
    }
  }

  @Override
  public void close() {
    logger.removeHandler(handler);
    logger.setUseParentHandlers(usesParents);
  }
}
