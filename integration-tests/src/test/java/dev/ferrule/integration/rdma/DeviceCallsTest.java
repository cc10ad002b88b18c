// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Listener;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import dev.ferrule.sendrecv.SendRecvProvider;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.SendChain;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Verifies the calls of sendrecv into the device's library. */
@RdmaTest
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DeviceCallsTest {

  /** Without keepalive probes, which are posted as well. */
  private static final String OPTIONS =
      "?receives=64&unacked=64&maxMessage=4KiB&wait=block&inline=64&peerTimeout=0";

  private final FaultyLibrary device = new FaultyLibrary();
  private final SendRecvProvider provider = new SendRecvProvider(device.library);
  private Listener listener;
  private Connection client;
  private Connection server;

  @BeforeEach
  void connect() {
    listener = Wires.listen(OPTIONS);
    Task<Connection> connecting =
        Task.start(() ->
            provider.connect(
                URI.create(listener.uri() + OPTIONS),
                ConnectionOptions.builder()
                    .set(StandardOptions.CONNECT_TIMEOUT, Task.PATIENCE)
                    .build()));
    server = listener.accept(Task.PATIENCE);
    client = connecting.result();
    device.takeSendPosts();
    device.takeReceivePosts();
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
    listener.close();
  }

  private void receiveAtTheServer(int count) {
    for (int left = count; left > 0; ) {
      left -= server.receiver().poll((segment, offset, length) -> {}, left);
    }
  }

  @Test
  void aBatchIsPostedByOneDoorbell() {
    Sender sender = client.sender();
    for (int i = 0; i < 20; i++) {
      SendRegion region = sender.claim(8);
      region.stage();
    }
    sender.flush();

    assertThat(device.takeSendPosts()).singleElement().satisfies(it -> assertThat(it).hasSize(20));
    receiveAtTheServer(20);
  }

  @Test
  void onlyEverySixteenthMessageIsSignaled() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment message = arena.allocate(8);
      for (int i = 0; i < 48; i++) {
        client.sender().send(message);
      }
    }

    List<List<Integer>> posts = device.takeSendPosts();
    assertThat(posts).hasSize(48).allSatisfy(flags -> assertThat(flags).hasSize(1));
    assertThat(posts.stream().filter(flags -> (flags.get(0) & SendChain.SIGNALED) != 0)).hasSize(3);
    receiveAtTheServer(48);
  }

  @Test
  void messagesUpToTheOptionInlineAreSentInlineAndLongerOnesAreNot() {
    try (Arena arena = Arena.ofConfined()) {
      client.sender().send(arena.allocate(64));
      client.sender().send(arena.allocate(65));
    }

    assertThat(device.takeSendPosts())
        .extracting(flags -> (flags.get(0) & SendChain.INLINE) != 0)
        .containsExactly(true, false);
    receiveAtTheServer(2);
  }

  @Test
  void completionsArePolledInBatchesAndReceivesRepostedTogether() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment message = arena.allocate(8);
      long last = 0;
      for (int i = 0; i < 64; i++) {
        last = server.sender().send(message);
      }
      server.sender().await(last, Task.PATIENCE); // then all messages have arrived
    }

    int count = client.receiver().poll((segment, offset, length) -> {}, 64);
    while (count < 64) {
      count += client.receiver().poll((segment, offset, length) -> {}, 64 - count);
    }

    assertThat(device.mostPolled()).isEqualTo(CompletionQueue.BATCH);
    // four posts of 16; the event thread requests further ones a few times per second
    List<Integer> posts = device.takeReceivePosts();
    assertThat(posts.stream().mapToInt(Integer::intValue).sum()).isBetween(64 - 15, 64);
    assertThat(posts).hasSizeLessThanOrEqualTo(16);
  }
}
