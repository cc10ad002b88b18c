// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.when;

import dev.ferrule.Connection;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.verbs.cm.CmEvent;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A client that cannot be accepted gets an answer, and the listener continues to serve others. */
class AcceptFailuresTest {

  private final FakeManager manager = new FakeManager();
  private final FakeProvider provider = new FakeProvider(manager);
  private final BlockingQueue<String> rejections = new LinkedBlockingQueue<>();
  private Throwable failure = new OutOfMemoryError("Java heap space");
  private boolean fails = true;

  @BeforeEach
  void failOnce() {
    when(manager.device.verbs.createCq(anyLong(), anyInt(), anyLong(), anyLong(), anyInt()))
        .thenAnswer(call -> {
          if (fails) {
            fails = false;
            throw failure;
          }
          return 0x3000L;
        });
    when(manager.device.cm.reject(anyLong(), any(), anyInt()))
        .thenAnswer(call -> {
          MemorySegment data = call.getArgument(1);
          byte[] bytes =
              data.asSlice(0, call.<Integer>getArgument(2)).toArray(ValueLayout.JAVA_BYTE);
          rejections.add(new String(bytes, StandardCharsets.ISO_8859_1));
          return 0;
        });
    manager.onAccept = id -> manager.hold(CmEvent.Type.ESTABLISHED, id, 0, new byte[0]);
  }

  @AfterEach
  void close() {
    manager.close();
  }

  private void assertServes(RdmaListener listener) {
    manager.bringClient(FakeProvider.hello(Hello.Kind.CONNECT));
    try (Connection connection = listener.accept()) {
      assertThat(connection.failure()).isNull();
    }
  }

  /** The event loop reads the requests of all clients. */
  @Test
  void anErrorWhileARequestIsReadIsAnsweredAndEndsNoOther() throws InterruptedException {
    fails = false;
    provider.fault = new OutOfMemoryError("Java heap space");
    try (RdmaListener listener = provider.listen("")) {
      manager.bringClient(FakeProvider.hello(Hello.Kind.CONNECT));
      assertThat(rejections.take())
          .contains("the listener failed: java.lang.OutOfMemoryError: Java heap space");
      assertServes(listener);
    }
  }

  @Test
  void aClientForWhichTheHeapIsTooSmallIsRejected() {
    try (RdmaListener listener = provider.listen("")) {
      manager.bringClient(FakeProvider.hello(Hello.Kind.CONNECT));
      assertThatThrownBy(listener::accept)
          .isInstanceOf(ResourceExhaustedException.class)
          .hasMessageContaining("Java heap space; raise the JVM's limit");
      assertThat(rejections).singleElement().asString().contains("Java heap space");
      assertServes(listener);
    }
  }

  static Stream<Throwable> faults() {
    return Stream.of(
        new NoClassDefFoundError("dev/example/Missing"),
        new IllegalStateException("dev/example/Missing"));
  }

  @ParameterizedTest
  @MethodSource("faults")
  void aClientIsAnsweredAlthoughTheListenersProgramIsBroken(Throwable fault) {
    failure = fault;
    try (RdmaListener listener = provider.listen("")) {
      manager.bringClient(FakeProvider.hello(Hello.Kind.CONNECT));
      assertThatThrownBy(listener::accept).isSameAs(fault);
      assertThat(rejections).singleElement().asString().contains("dev/example/Missing");
      assertServes(listener);
    }
  }
}
