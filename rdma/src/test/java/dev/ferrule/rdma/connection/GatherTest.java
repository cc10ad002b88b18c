// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.when;

import dev.ferrule.RegisteredMemory;
import dev.ferrule.posix.Errno;
import dev.ferrule.rdma.queue.TestQueues;
import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.libibverbs.ibv_qp_cap;
import dev.ferrule.verbs.libibverbs.ibv_qp_init_attr;
import dev.ferrule.verbs.libibverbs.ibv_send_wr;
import dev.ferrule.verbs.libibverbs.ibv_sge;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages of a header and a payload, over devices of several limits. */
class GatherTest {

  private final FakeManager manager = new FakeManager();
  private final FakeProvider provider = new FakeProvider(manager);
  private final List<byte[]> messages = new ArrayList<>();
  private final List<Integer> pieces = new ArrayList<>();

  @BeforeEach
  void answer() {
    byte[] hello = FakeProvider.hello(Hello.Kind.ACCEPT);
    manager.onConnect = () -> manager.answer(CmEvent.Type.ESTABLISHED, 0, hello);
    when(manager.device.verbs.postSend(any(), anyLong(), anyLong(), anyLong()))
        .thenAnswer(call -> {
          read(at(call.getArgument(2), ibv_send_wr.sizeof()));
          return 0;
        });
    provider.sends = TestQueues.protocol();
  }

  @AfterEach
  void close() {
    manager.close();
  }

  private static MemorySegment at(long address, long size) {
    return MemorySegment.ofAddress(address).reinterpret(size);
  }

  private void read(MemorySegment request) {
    ByteArrayOutputStream message = new ByteArrayOutputStream();
    long first = ibv_send_wr.sg_list(request).address();
    int count = ibv_send_wr.num_sge(request);
    for (int i = 0; i < count; i++) {
      MemorySegment piece = at(first + i * ibv_sge.sizeof(), ibv_sge.sizeof());
      MemorySegment bytes = at(ibv_sge.addr(piece), ibv_sge.length(piece));
      message.writeBytes(bytes.toArray(ValueLayout.JAVA_BYTE));
    }
    messages.add(message.toByteArray());
    pieces.add(count);
  }

  /** Refuses queue pairs with more elements, as a device does. */
  private void limit(int supported) {
    manager.pieces = supported;
    manager.onQueuePair =
        attributes ->
            ibv_qp_cap.max_send_sge(ibv_qp_init_attr.cap(attributes)) > supported
                ? -Errno.EINVAL
                : 0;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 32})
  void aMessageOfTwoPartsIsCopiedIfADeviceHasOneScatterGatherElement(int supported) {
    limit(supported);
    RdmaConnection connection = provider.connect("?inline=0&peerTimeout=0");
    RegisteredMemory payload =
        connection.register(
            Arena.ofAuto().allocateFrom(ValueLayout.JAVA_BYTE, new byte[] {1, 2, 3, 4}));

    connection.sender().sendRegistered(MemorySegment.ofArray(new byte[] {9, 8}), payload, 1, 3);
    connection.sender().sendRegistered(MemorySegment.NULL, payload, 0, 4);

    assertThat(messages).containsExactly(new byte[] {9, 8, 2, 3, 4}, new byte[] {1, 2, 3, 4});
    assertThat(pieces).containsExactly(Math.min(2, supported), 1);
    connection.close(Duration.ZERO);
  }
}
