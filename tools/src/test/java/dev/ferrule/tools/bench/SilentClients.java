// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.ConnectionRequest;
import dev.ferrule.Listener;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** Simulates clients of a listener that do not confirm their connection. */
public final class SilentClients {

  private final AtomicInteger left;
  private final CountDownLatch seen;
  private final CountDownLatch released = new CountDownLatch(1);

  /**
   * Creates clients.
   *
   * @param count the number of clients
   */
  public SilentClients(int count) {
    left = new AtomicInteger(count);
    seen = new CountDownLatch(count);
  }

  /**
   * Returns a listener whose first requests come from these clients.
   *
   * @param listener the real listener
   * @return a listener with the same behaviour except for those requests
   */
  public Listener among(Listener listener) {
    return proxy(
        Listener.class,
        (method, arguments) -> {
          Object result = call(listener, method, arguments);
          return result instanceof ConnectionRequest request && left.getAndDecrement() > 0
              ? silent(request)
              : result;
        });
  }

  private ConnectionRequest silent(ConnectionRequest request) {
    return proxy(
        ConnectionRequest.class,
        (method, arguments) -> {
          if (method.getName().equals("accept")) {
            seen.countDown();
            released.await(); // like a real client until the listener's connectTimeout
          }
          return call(request, method, arguments);
        });
  }

  /** Waits until the program is waiting for the confirmation of all clients. */
  public void awaitAll() throws InterruptedException {
    seen.await();
  }

  /** Lets all clients confirm. */
  public void release() {
    released.countDown();
  }

  private interface Call {
    Object apply(Method method, Object[] arguments) throws Throwable;
  }

  private static <T> T proxy(Class<T> type, Call call) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> call.apply(method, arguments)));
  }

  private static Object call(Object target, Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
