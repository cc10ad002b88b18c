// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.ferrule.verbs.cm.CmId;
import dev.ferrule.verbs.cm.ConnectionParameters;
import dev.ferrule.verbs.cm.EventChannel;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The exception of every function that fails contains the function and the subject of the call. */
class EveryFailureTest {

  private static final InetSocketAddress ADDRESS = new InetSocketAddress("10.0.0.1", 18515);

  private interface Call {
    void on(FakeDevice device);
  }

  private static Arguments failure(String expected, Call call) {
    return Arguments.of(expected, call);
  }

  static Stream<Arguments> failures() {
    ConnectionParameters parameters = new ConnectionParameters(new byte[0], 1, 1, 7, 7);
    QueuePairSizes sizes = new QueuePairSizes(1, 2, 3);
    return Stream.of(
        failure("ibv_get_device_list", device -> device.library.deviceNames()),
        failure("ibv_query_device", device -> device.context().attributes()),
        failure("ibv_query_port(port 3)", device -> device.context().port(3)),
        failure("ibv_query_gid(port 3, index 4)", device -> device.context().gid(3, 4)),
        failure("ibv_alloc_pd", device -> device.context().allocateProtectionDomain()),
        failure("ibv_dealloc_pd", device -> device.domain().close()),
        failure("ibv_create_comp_channel", device -> device.context().createCompletionChannel()),
        failure("ibv_destroy_comp_channel", device -> device.completionChannel().close()),
        failure("ibv_get_cq_event", device -> device.completionChannel().nextEvent()),
        failure(
            "ibv_create_cq(64 entries)",
            device -> device.context().createCompletionQueue(64, null, 0)),
        failure("ibv_destroy_cq", device -> device.completionQueue().close()),
        failure(
            "ibv_create_srq(9 receives)", device -> device.domain().createSharedReceiveQueue(9)),
        failure("ibv_destroy_srq", device -> device.sharedReceiveQueue().close()),
        failure("ibv_reg_mr(100 bytes)", device -> device.domain().allocate(100, 0)),
        failure(
            "ibv_reg_mr(50 bytes)",
            device -> device.domain().register(device.arena.allocate(50), 0)),
        failure(
            "ibv_reg_mr(25 bytes)",
            device -> {
              try (Arena arena = Arena.ofShared()) {
                device.domain().register(arena, arena.allocate(25), 0);
              }
            }),
        failure(
            "ibv_dereg_mr",
            device -> {
              device.registrations();
              device.domain().register(device.arena.allocate(1), 0).close();
            }),
        failure("ibv_modify_qp(error state)", device -> device.queuePair().toError()),
        failure("ibv_modify_qp(min_rnr_timer 12)", device -> device.queuePair().setMinRnrTimer(12)),
        failure("ibv_get_async_event", device -> device.context().nextAsyncEvent()),
        failure("ibv_close_device", device -> device.context().close()),
        failure("rdma_create_event_channel", device -> EventChannel.create(device.library)),
        failure("rdma_create_id", device -> channelThatWorks(device).createId()),
        failure("rdma_get_cm_event", device -> channelThatWorks(device).nextEvent()),
        failure("rdma_set_option(reuseaddr)", device -> id(device).bind(ADDRESS)),
        failure("rdma_listen", device -> id(device).listen(1)),
        failure(
            "rdma_resolve_addr(10.0.0.1:18515)", device -> id(device).resolveAddress(ADDRESS, 1)),
        failure("rdma_resolve_route", device -> id(device).resolveRoute(1)),
        failure(
            "rdma_create_qp("
                + "%s sends, %s receives, %s bytes inline, %s pieces"
                    .formatted(sizes.sends(), sizes.receives(), sizes.inline(), sizes.pieces())
                + ")",
            device ->
                id(device)
                    .createQueuePair(
                        device.domain(),
                        sizes,
                        device.completionQueue(),
                        device.completionQueue(),
                        null)),
        failure("rdma_connect", device -> id(device).connect(parameters)),
        failure("rdma_accept", device -> id(device).accept(parameters)),
        failure("rdma_reject", device -> id(device).reject(new byte[1])),
        failure("rdma_destroy_id", device -> id(device).close()));
  }

  private static EventChannel channelThatWorks(FakeDevice device) {
    int errno = device.errno;
    device.errno = 0;
    EventChannel channel = EventChannel.create(device.library);
    device.errno = errno;
    return channel;
  }

  private static CmId id(FakeDevice device) {
    return channelThatWorks(device).adopt(device.id().address());
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("failures")
  void exceptionContainsFunctionAndSubject(String expected, Call call) {
    FakeDevice device = new FakeDevice();
    device.errno = 110;
    assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(() -> call.on(device))
        .withMessageStartingWith(expected + ": Connection timed out (errno 110); check that")
        .satisfies(e -> {
          assertThat(e.function()).isEqualTo(expected.replaceAll("\\(.*", ""));
          assertThat(e.errno()).isEqualTo(110);
        });
  }
}
