// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.contains;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.ferrule.bindings.verbs.ibv_wc;
import dev.ferrule.verbs.FakeDevice;
import dev.ferrule.verbs.queue.FakeChannels.FakeChannel;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Connections that come and go on a queue that they share; all have the same number. */
class DrainedQueueTest {

  private static final int NUMBER = 77; // of each queue pair of the fake device

  private final FakeDevice device = new FakeDevice();
  private final FakeChannels channels = new FakeChannels(device);
  private final Queue<Integer> completions = new ArrayDeque<>(); // ids
  private final List<Integer> strays = new ArrayList<>();
  private final ReceiveQueue queue = new ReceiveQueue(device.completionQueue(), strays::add);

  @BeforeEach
  void letCompletionsBePolled() {
    when(device.verbs.pollCq(any(), anyLong(), anyInt(), anyLong()))
        .thenAnswer(call -> poll(call.getArgument(2), call.getArgument(3)));
  }

  private int poll(int limit, long address) {
    MemorySegment all = MemorySegment.ofAddress(address).reinterpret(limit * ibv_wc.sizeof());
    int count = 0;
    while (count < limit && !completions.isEmpty()) {
      MemorySegment one = ibv_wc.asSlice(all, count);
      one.fill((byte) 0);
      ibv_wc.wr_id(one, completions.remove());
      ibv_wc.qp_num(one, NUMBER);
      count++;
    }
    return count;
  }

  private static List<Integer> take(FakeChannel channel) {
    List<Integer> taken = new ArrayList<>();
    Arrivals arrivals = channel.arrivals();
    while (arrivals.hasNext()) {
      taken.add(arrivals.number());
      arrivals.advance();
    }
    return taken;
  }

  @Test
  void shouldTakeWhatIsLeftOfAConnectionBeforeItForgetsIt() {
    FakeChannel channel = channels.channel(64);
    queue.add(channel);
    completions.addAll(List.of(1, 2));

    queue.remove(channel);

    assertThat(take(channel)).containsExactly(1, 2);
    completions.add(3);
    queue.drain();
    assertThat(strays).containsExactly(3);
  }

  @Test
  void shouldNotTakeOneConnectionsCompletionsForThoseOfItsSuccessor() {
    FakeChannel first = channels.channel(64);
    queue.add(first);
    queue.remove(first);
    completions.add(1); // it was late
    FakeChannel second = channels.channel(64);

    queue.add(second);
    completions.add(2);
    queue.drain();

    assertThat(strays).containsExactly(1);
    assertThat(take(second)).containsExactly(2);
    assertThat(take(first)).isEmpty();
  }

  @Test
  void shouldNotTakeCompletionsOfAnotherNumberForThoseOfTheOnlyConnection() {
    FakeChannel channel = channels.channel(64, mock(Link.class), NUMBER + 1);
    queue.add(channel);
    completions.add(1); // of a connection that was never made

    queue.drain();

    assertThat(strays).containsExactly(1);
    assertThat(take(channel)).isEmpty();
  }

  @Test
  void shouldLetNoExceptionOutOfAPoll() {
    Link link = mock(Link.class);
    FakeChannel channel = channels.channel(64, link);
    queue.add(channel);
    completions.addAll(List.of(-1, 2));

    queue.drain();

    assertThat(take(channel)).containsExactly(2);
    assertThat(channel.dropped).containsExactly(-1);
    verify(link).onViolation(contains("cannot be taken in"));
  }
}
