// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Receiver;
import dev.ferrule.Rma;
import dev.ferrule.Sender;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests which calls detect concurrent use by another thread, and which do not. */
class SingleThreadedUseTest {

  private static final String OTHER = "the-other-thread";

  /** The methods that any thread may call. */
  private static final Set<String> FREE =
      Set.of("maxMessage", "expose", "allocate", "attach", "path");

  private final SingleThreadedUse use = new SingleThreadedUse(() -> "the sender of test");

  /** A half whose methods do nothing. */
  private static <T> T idle(Class<T> type) {
    Object made =
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> nothing(method.getReturnType()));
    return type.cast(made);
  }

  private static Object nothing(Class<?> type) {
    if (type == int.class) {
      return 0;
    }
    if (type == long.class) {
      return 0L;
    }
    return type == boolean.class ? false : null;
  }

  private Object checked(Class<?> half) {
    if (half == Receiver.class) {
      return use.check(idle(Receiver.class));
    }
    if (half == Rma.class) {
      return use.check(idle(Rma.class));
    }
    return use.check(idle(Sender.class));
  }

  static Stream<Arguments> methods() {
    return Stream.of(Receiver.class, Sender.class, Rma.class)
        .flatMap(half ->
            Arrays.stream(half.getMethods())
                .filter(method -> Modifier.isAbstract(method.getModifiers()))
                .map(method -> Arguments.of(half, method)));
  }

  private static void call(Object half, Method method) throws Throwable {
    Object[] nothing =
        Arrays.stream(method.getParameterTypes()).map(SingleThreadedUseTest::nothing).toArray();
    try {
      method.invoke(half, nothing);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  /** Runs an action while another thread is in a call. */
  private void whileUsed(ThrowingCallable action) throws Throwable {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch done = new CountDownLatch(1);
    Thread other =
        Thread.ofPlatform()
            .name(OTHER)
            .start(() -> {
              use.begin();
              begun.countDown();
              try {
                done.await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              } finally {
                use.end();
              }
            });
    begun.await();
    try {
      action.call();
    } finally {
      done.countDown();
      other.join();
    }
  }

  @Test
  void testsAreChecked() {
    assertThat(SingleThreadedUse.isChecked()).as("run with -ea").isTrue();
  }

  @ParameterizedTest
  @MethodSource("methods")
  void aCallDetectsThatAnotherThreadIsInOne(Class<?> half, Method method) throws Throwable {
    Object checked = checked(half);

    whileUsed(() -> {
      if (FREE.contains(method.getName())) {
        assertThatCode(() -> call(checked, method)).doesNotThrowAnyException();
      } else {
        assertThatThrownBy(() -> call(checked, method))
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContainingAll("the sender of test", OTHER, Thread.currentThread().getName());
      }
    });

    call(checked, method); // the other thread has left, and this one did not enter
  }

  @Test
  void threadsMayTakeTurns() throws Throwable {
    Receiver receiver = use.check(idle(Receiver.class));
    receiver.tryReceive();

    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread other = new Thread(receiver::tryReceive);
    other.setUncaughtExceptionHandler((thread, e) -> failure.set(e));
    other.start();
    other.join();

    assertThat(failure).hasNullValue();
    receiver.tryReceive();
  }

  @Test
  void aThreadMayNestCalls() throws Throwable {
    Sender sender = use.check(idle(Sender.class));

    use.begin();
    sender.claim(1);
    use.end();

    whileUsed(
        () -> assertThatThrownBy(() -> sender.claim(1)).isInstanceOf(IllegalStateException.class));
  }
}
