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
 * A test in containers; see CONTRIBUTING.md for how these are run. What a test makes here is gone
 * after it, the last first: no reaper does it, whose image would have to be fetched.
 */
@Tag("containers")
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class ContainerTest {

  /** Where containers have the shared volume. */
  static final String SHARED = "/shared";

  /** The directory in it that the tests' endpoints are in. */
  static final String BASE = SHARED + "/app";

  static final String ADDRESS = "sm://" + BASE;

  private final Deque<AutoCloseable> made = new ArrayDeque<>();

  /** A volume that containers can share. */
  final SharedVolume volume(String size) {
    SharedVolume volume = SharedVolume.tmpfs(size);
    made.push(volume);
    return volume;
  }

  /** A container that is to be started. */
  final PeerContainer container() {
    PeerContainer container = new PeerContainer();
    made.push(container);
    return container;
  }

  /** A container of the plain kind, which has the volume and nothing else in common with others. */
  final PeerContainer container(SharedVolume volume) {
    return container().volume(volume, SHARED);
  }

  @AfterEach
  final void removeAll() throws Exception {
    while (!made.isEmpty()) {
      made.pop().close();
    }
  }

  /** Has two programs connect, each to the other; the connection gets the next number in both. */
  static void connect(PeerContainer server, PeerContainer client, String address) {
    server.tell("accept");
    client.ask("connect " + address);
    server.answer();
  }

  /** Has messages go both ways at the same time, and sees that they come as they were sent. */
  static void exchangeMessages(PeerContainer one, PeerContainer other, int connection) {
    one.tell("exchange " + connection);
    other.tell("exchange " + connection);
    Traffic.Report first = Traffic.Report.parse(one.answer());
    Traffic.Report second = Traffic.Report.parse(other.answer());
    first.assertIsWhatTheOtherSideSaw(second);
  }

  /** Has each side read and write the other's memory, and returns by which way. */
  static void accessMemory(PeerContainer one, PeerContainer other, String path) {
    one.tell("share 1");
    other.ask("share 1");
    one.answer();
    assertThat(one.ask("path 1")).isEqualTo(path);
    assertThat(other.ask("path 1")).isEqualTo(path);

    assertThat(one.ask("read 1")).as("read").isEqualTo(other.ask("memory 1"));
    assertThat(other.ask("read 1")).as("read").isEqualTo(one.ask("memory 1"));
    assertThat(one.ask("write 1")).as("written").isEqualTo(other.ask("memory 1"));
    assertThat(other.ask("write 1")).as("written").isEqualTo(one.ask("memory 1"));
    assertThat(one.ask("path 1")).as("the way, still").isEqualTo(path);
  }
}
