// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.containers;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/**
 * A test in containers; CONTRIBUTING.md describes how these are run. The resources of a test are
 * removed after it, in the reverse order of their creation. Testcontainers' reaper is not used, as
 * its image would have to be downloaded.
 */
@Tag("containers")
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class ContainerTest {

  /** The mount point of the shared volume in containers. */
  static final String SHARED = "/shared";

  /** The directory of the tests' endpoints in the volume. */
  static final String BASE = SHARED + "/app";

  static final String ADDRESS = "sm://" + BASE;

  private final Deque<AutoCloseable> made = new ArrayDeque<>();

  /** Returns a volume that containers can share. */
  final SharedVolume volume(String size) {
    return closedAfterTest(SharedVolume.tmpfs(size));
  }

  /** Returns a container that is not yet started. */
  final PeerContainer container() {
    return closedAfterTest(new PeerContainer());
  }

  /** Closes a resource after the test, before those that were created earlier. */
  final <T extends AutoCloseable> T closedAfterTest(T resource) {
    made.push(resource);
    return resource;
  }

  /** Returns a default container, which shares the volume and nothing else with others. */
  final PeerContainer container(SharedVolume volume) {
    return container().volume(volume, SHARED);
  }

  @AfterEach
  final void removeAll() throws Exception {
    while (!made.isEmpty()) {
      made.pop().close();
    }
  }

  /** Connects two programs; the connection gets the next number in both. */
  static void connect(PeerContainer server, PeerContainer client, String address) {
    server.send("accept");
    client.ask("connect " + address);
    server.answer();
  }

  /** Exchanges messages in both directions concurrently, and checks that they arrive as sent. */
  static void exchangeMessages(PeerContainer one, PeerContainer other, int connection) {
    one.send("exchange " + connection);
    other.send("exchange " + connection);
    Traffic.Report first = Traffic.Report.parse(one.answer());
    Traffic.Report second = Traffic.Report.parse(other.answer());
    first.assertIsWhatTheOtherSideSaw(second);
  }

  /** Reads and writes the memory of each side from the other, and checks the path used. */
  static void accessMemory(PeerContainer one, PeerContainer other, String path) {
    one.send("share 1");
    other.ask("share 1");
    one.answer();
    assertThat(one.ask("path 1")).isEqualTo(path);
    assertThat(other.ask("path 1")).isEqualTo(path);

    assertThat(one.ask("read 1")).as("read").isEqualTo(other.ask("memory 1"));
    assertThat(other.ask("read 1")).as("read").isEqualTo(one.ask("memory 1"));
    assertThat(one.ask("write 1")).as("written").isEqualTo(other.ask("memory 1"));
    assertThat(other.ask("write 1")).as("written").isEqualTo(one.ask("memory 1"));
    assertThat(one.ask("path 1")).as("the path is unchanged").isEqualTo(path);
  }
}
