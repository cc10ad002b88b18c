// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The endpoints of this process. A shutdown hook removes the files of those that are still open
 * when the JVM exits in an orderly way.
 */
final class LiveEndpoints {

  private static final Set<Endpoint> ENDPOINTS = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(() -> ENDPOINTS.forEach(Endpoint::removeFiles), "ferrule-sm shutdown"));
  }

  private LiveEndpoints() {}

  static void add(Endpoint endpoint) {
    ENDPOINTS.add(endpoint);
  }

  static void remove(Endpoint endpoint) {
    ENDPOINTS.remove(endpoint);
  }
}
