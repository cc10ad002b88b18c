// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Captures the log records of one class until it is closed. The records are kept for assertions and
 * do not reach standard error, where they would look like a failure of the test.
 */
public final class LoggedRecords implements AutoCloseable {

  private final Logger logger; // held here because the system keeps only a weak reference
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
   * Starts to capture the log records of a class.
   *
   * @param logging the class, whose logger has its name
   * @return the records, to be closed
   */
  public static LoggedRecords of(Class<?> logging) {
    return new LoggedRecords(Logger.getLogger(logging.getName()));
  }

  /** {@return a copy of the records captured so far} */
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
