// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Listener;
import dev.ferrule.StandardOptions;
import dev.ferrule.contract.ProviderUnderTest;
import dev.ferrule.contract.SystemResources;
import dev.ferrule.contract.ViaListenerReceiver;
import dev.ferrule.posix.SealedFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The adapter of sm for the contract tests: each test works in a directory of its own. */
final class SmUnderTest implements ProviderUnderTest {

  /** A directory in memory for shared memory. */
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");

  private static final int FEWER_MESSAGES = 20_000;
  private static final int CYCLES = 500;

  private @Nullable Path made; // a skipped test creates none, as it would not be removed
  private final boolean viaListenerReceiver;
  private final boolean fewerMessages;
  private final String[] options;
  private int addresses;

  /**
   * Creates sm in one of its modes.
   *
   * @param options names and values of further options, alternating
   */
  SmUnderTest(String... options) {
    this(false, false, options);
  }

  private SmUnderTest(boolean viaListenerReceiver, boolean fewerMessages, String... options) {
    this.viaListenerReceiver = viaListenerReceiver;
    this.fewerMessages = fewerMessages;
    this.options = options;
  }

  private synchronized Path directory() {
    Path known = made;
    if (known == null) {
      try {
        known =
            Files.isWritable(SHARED_MEMORY)
                ? Files.createTempDirectory(SHARED_MEMORY, "ferrule-test-")
                : Files.createTempDirectory("ferrule-test-");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      made = known;
    }
    return known;
  }

  /**
   * Returns sm whose listeners receive for the connections that they have accepted.
   *
   * @param options names and values of further options, alternating
   */
  static SmUnderTest viaListenerReceiver(String... options) {
    return new SmUnderTest(true, true, options);
  }

  /**
   * Returns sm whose long tests send fewer messages, for a mode in which they cover nothing beyond
   * those of another mode.
   *
   * @param options names and values of further options, alternating
   */
  static SmUnderTest withFewerMessages(String... options) {
    return new SmUnderTest(false, true, options);
  }

  /** A leak of one object per cycle shows after few cycles, as nothing else varies. */
  @Override
  public int connectCloseCycles() {
    return Integer.getInteger(CYCLES_PROPERTY, CYCLES);
  }

  /** The cost of one receiver of all connections shows in fewer messages, too. */
  @Override
  public int messages(int wanted) {
    int messages = ProviderUnderTest.super.messages(wanted);
    return fewerMessages ? Math.min(messages, FEWER_MESSAGES) : messages;
  }

  @Override
  public Connection accepted(Listener listener, Connection connection) {
    return viaListenerReceiver ? new ViaListenerReceiver(listener, connection) : connection;
  }

  @Override
  public synchronized URI listenAddress() {
    addresses++;
    return URI.create("sm://" + directory().resolve(String.valueOf(addresses)));
  }

  @Override
  public ConnectionOptions options() {
    ConnectionOptions.Builder builder =
        ConnectionOptions.builder().set(StandardOptions.MAX_MESSAGE, 16L * 1024);
    for (int i = 0; i < options.length; i += 2) {
      builder.set(options[i], options[i + 1]);
    }
    return builder.build();
  }

  @Override
  public List<String> mappings() {
    return SystemResources.mappings("/memfd:" + SealedFile.NAME); // shared memory has no path
  }

  @Override
  public List<String> leftOverFiles() {
    return SystemResources.files(directory()).stream()
        .filter(path -> !path.equals(directory().toString()))
        .collect(Collectors.toList());
  }

  @Override
  public void close() {
    try (Stream<Path> paths = Files.walk(directory())) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).collect(Collectors.toList())) {
        Files.deleteIfExists(path);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
