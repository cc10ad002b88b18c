// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Listener;
import java.net.URI;
import java.util.List;
import java.util.Set;

/**
 * What the contract tests have to know of a provider. Each test gets an object of its own and
 * closes it at its end.
 *
 * <p>Two system properties make the kit smaller where every message is slow, such as in an emulated
 * machine. What was run is printed.
 *
 * <ul>
 *   <li>{@value #CYCLES_PROPERTY}: how many connections {@link LeakContract} makes; 10,000 unless
 *       told.
 *   <li>{@value #MESSAGES_PROPERTY}: how many messages a long test sends at most; 250,000, which is
 *       no limit, unless told.
 * </ul>
 */
public interface ProviderUnderTest extends AutoCloseable {

  /** The system property that sets {@link #connectCloseCycles()}. */
  String CYCLES_PROPERTY = "ferrule.contract.cycles";

  /** The system property that sets the limit of {@link #messages(int)}. */
  String MESSAGES_PROPERTY = "ferrule.contract.messages";

  /**
   * Returns an address that can be listened on, another one at each call.
   *
   * @return an address without options
   */
  URI listenAddress();

  /**
   * Returns the options that tests start from. A provider under test keeps its connections small
   * here, so that many of them fit and their rings wrap often. Unread, there has to be room for 8
   * of the longest messages, or for 20 of 1 KiB; tests that need longer messages than these options
   * allow ask for them.
   *
   * @return options for connecting and listening
   */
  ConnectionOptions options();

  /**
   * Returns what the tests use in place of a connection that a listener has accepted: that very
   * connection, unless its messages are to be received in another way than by its own receiver.
   *
   * @param listener the listener
   * @param connection the connection, which the tests close by themselves
   * @return the connection, or a view of it
   */
  default Connection accepted(Listener listener, Connection connection) {
    return connection;
  }

  /**
   * Returns the file descriptors that this process has open.
   *
   * @return what each refers to
   */
  default List<String> openDescriptors() {
    return SystemResources.openDescriptors();
  }

  /**
   * Returns the memory of the provider's connections that is mapped into this process.
   *
   * @return a line for each mapping; see {@link SystemResources#mappings}
   */
  List<String> mappings();

  /**
   * Returns the files that the provider has made for this object's addresses and that are still
   * there.
   *
   * @return the paths; empty for a transport without files
   */
  List<String> leftOverFiles();

  /**
   * Returns the counters that the transport cannot count, which are absent from {@link
   * dev.ferrule.ConnectionCounters}.
   *
   * @return their names
   */
  default Set<String> notCounted() {
    return Set.of();
  }

  /**
   * Returns how many messages, each of which is received before the next is sent, certainly meet no
   * back-pressure.
   *
   * @return the number; a few where a thread of the provider's own gives the room back, since that
   *     may be late
   */
  default int messagesWithoutBackPressure() {
    return 1_000;
  }

  /**
   * Returns how many connections the search for leaks makes.
   *
   * @return the number of connect/close cycles
   */
  default int connectCloseCycles() {
    return Integer.getInteger(CYCLES_PROPERTY, 10_000);
  }

  /**
   * Returns how many messages a long test sends.
   *
   * @param wanted how many the test wants
   * @return as many, unless the limit is lower
   */
  default int messages(int wanted) {
    return Math.min(wanted, Integer.getInteger(MESSAGES_PROPERTY, 250_000));
  }

  /** Removes what the tests themselves needed, such as a scratch directory. */
  @Override
  void close();
}
