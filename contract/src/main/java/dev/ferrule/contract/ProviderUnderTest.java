// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Listener;
import java.net.URI;
import java.util.List;
import java.util.Set;

/**
 * Describes a provider to the contract tests. Each test creates an instance and closes it at its
 * end.
 *
 * <p>Two system properties shorten the tests on machines where every message is slow, such as an
 * emulated one. The numbers in use are printed.
 *
 * <ul>
 *   <li>{@value #CYCLES_PROPERTY}: how many connections {@link LeakContract} opens; default 10,000.
 *   <li>{@value #MESSAGES_PROPERTY}: the maximum number of messages of a long test; default
 *       250,000, which is no limit.
 * </ul>
 */
public interface ProviderUnderTest extends AutoCloseable {

  /** The system property that sets {@link #connectCloseCycles()}. */
  String CYCLES_PROPERTY = "ferrule.contract.cycles";

  /** The system property that sets the limit of {@link #messages(int)}. */
  String MESSAGES_PROPERTY = "ferrule.contract.messages";

  /**
   * Returns an address to listen on, a different one for each call.
   *
   * @return an address without options
   */
  URI listenAddress();

  /**
   * Returns the options that tests start from. A provider should keep its connections small, so
   * that many of them fit and their rings wrap often. There must be space for 20 messages of 1 KiB
   * that are claimed or unread, and for 9 of the maximum length. Tests that need longer messages
   * set the option themselves.
   *
   * @return options for connecting and listening
   */
  ConnectionOptions options();

  /**
   * Returns the object that the tests use in place of a connection accepted by a listener: the
   * connection itself, unless its messages are received by another receiver than its own.
   *
   * @param listener the listener
   * @param connection the connection, which the tests close themselves
   * @return the connection, or a view of it
   */
  default Connection accepted(Listener listener, Connection connection) {
    return connection;
  }

  /** {@return the target of each open file descriptor of this process} */
  default List<String> openDescriptors() {
    return SystemResources.openDescriptors();
  }

  /**
   * Returns the memory of the provider's connections that is mapped into this process.
   *
   * @return one line per mapping, see {@link SystemResources#mappings}; empty for a transport whose
   *     mappings cannot be identified, such as memory of an arena
   */
  List<String> mappings();

  /**
   * {@return the files that the provider has created for this object's addresses and that still
   * exist; empty for a transport without files}
   */
  List<String> leftOverFiles();

  /**
   * {@return the counters that the transport cannot maintain, which are absent from {@link
   * dev.ferrule.ConnectionCounters}}
   */
  default Set<String> notCounted() {
    return Set.of();
  }

  /**
   * {@return how many messages can be sent without back pressure if each is received before the
   * next one is sent; small if the space is freed by another thread or a message, which may be
   * late}
   */
  default int messagesWithoutBackPressure() {
    return 1_000;
  }

  /**
   * Returns how many connections the leak tests open.
   *
   * @return the number of connect/close cycles
   */
  default int connectCloseCycles() {
    return Integer.getInteger(CYCLES_PROPERTY, 10_000);
  }

  /**
   * Returns how many messages a long test sends.
   *
   * @param wanted the number that the test requests
   * @return that number, or the limit if it is lower
   */
  default int messages(int wanted) {
    return Math.min(wanted, Integer.getInteger(MESSAGES_PROPERTY, 250_000));
  }

  /** Removes the resources of the tests themselves, such as a scratch directory. */
  @Override
  void close();
}
