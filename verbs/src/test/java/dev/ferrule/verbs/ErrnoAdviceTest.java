// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.PosixException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class ErrnoAdviceTest {

  static IntStream errnos() {
    return IntStream.rangeClosed(1, 133);
  }

  @ParameterizedTest
  @CsvSource({
    "ibv_reg_mr, 12, ulimit -l unlimited",
    "ibv_reg_mr, 11, LimitMEMLOCK",
    "ibv_create_cq, 12, use fewer or smaller queues",
    "rdma_create_qp, 12, close connections",
    "ibv_open_device, 13, /dev/infiniband/uverbs",
    "rdma_create_event_channel, 1, /dev/infiniband/rdma_cm",
    "rdma_create_event_channel, 2, there is no RDMA device: load the driver (rdma_ucm)",
    "rdma_create_event_channel, 19, there is no RDMA device: load the driver (rdma_ucm)",
    "rdma_bind_addr, 19, rdma link",
    "rdma_bind_addr, 99, rdma link",
    "ibv_get_device_list, 38, ib_uverbs",
    "ibv_create_cq, 22, ibv_devinfo -v",
    "rdma_connect, 22, ended meanwhile",
    "rdma_listen, 98, another listener has that port",
    "ibv_open_device, 24, ulimit -n",
    "ibv_post_send, 5, dmesg",
    "ibv_dealloc_pd, 16, still open",
    "rdma_resolve_addr, 101, ip route",
    "rdma_resolve_route, 110, ping",
    "rdma_listen, 4000, dmesg"
  })
  void anErrorHasAdvice(String function, int errno, String advice) {
    assertThat(new VerbsException(function, "it", errno))
        .hasMessageStartingWith(PosixException.describe(function + "(it)", errno) + "; ")
        .hasMessageContaining(advice);
  }

  @ParameterizedTest
  @MethodSource("errnos")
  void everyErrorHasAdvice(int errno) {
    assertThat(new VerbsException("ibv_create_cq", "", errno).getMessage())
        .matches("ibv_create_cq: .* \\(errno " + errno + "\\); .{20,}");
  }

  @Test
  void anExceptionMayHaveItsOwnAdviceAndCause() {
    RuntimeException cause = new RuntimeException("why");
    VerbsException e = new VerbsException("f", "s", Errno.EINVAL, "do this", cause);
    assertThat(e).hasMessage("f(s): Invalid argument (errno 22); do this").hasCause(cause);
    assertThat(e.function()).isEqualTo("f");
    assertThat(e.errno()).isEqualTo(Errno.EINVAL);
  }
}
