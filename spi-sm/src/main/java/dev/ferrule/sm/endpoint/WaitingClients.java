// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The waiting connection requests of a listener. Each client endpoint has a first-in, first-out
 * queue, and the endpoints are served round-robin. An endpoint with many requests therefore delays
 * its own, and not those of others. Not thread-safe.
 */
final class WaitingClients {

  private final Map<SmAddress, ArrayDeque<ServerHandshake>> clients = new LinkedHashMap<>();
  private int size;

  int size() {
    return size;
  }

  void add(ServerHandshake request) {
    clients.computeIfAbsent(request.client(), client -> new ArrayDeque<>()).add(request);
    size++;
  }

  /**
   * Removes the next request: of the endpoints with the fewest unconfirmed connections, the one
   * that was served least recently.
   *
   * @param unconfirmed returns how many unconfirmed connections an endpoint has; not 0 for a few
   *     endpoints only
   */
  @Nullable ServerHandshake poll(ToIntFunction<SmAddress> unconfirmed) {
    SmAddress next = next(unconfirmed);
    ArrayDeque<ServerHandshake> requests = next == null ? null : clients.remove(next);
    ServerHandshake request = requests == null ? null : requests.poll();
    if (next != null && requests != null && !requests.isEmpty()) {
      clients.put(next, requests); // behind all others
    }
    size -= request == null ? 0 : 1;
    return request;
  }

  /** Returns the endpoint to serve next; null if no request waits. */
  @Nullable SmAddress next(ToIntFunction<SmAddress> unconfirmed) {
    SmAddress best = null;
    int fewest = Integer.MAX_VALUE;
    for (SmAddress client : clients.keySet()) {
      int count = unconfirmed.applyAsInt(client);
      if (count < fewest) {
        best = client;
        fewest = count;
      }
      if (count == 0) {
        break;
      }
    }
    return best;
  }

  /**
   * Removes the latest request of the endpoint with the most, if a request of another endpoint is
   * to take its place. Its client retransmits it.
   *
   * @param client the other endpoint
   * @return the removed request; null if no endpoint has at least two more than that one
   */
  @Nullable ServerHandshake displace(SmAddress client) {
    ArrayDeque<ServerHandshake> longest = displaceable(client);
    if (longest == null) {
      return null;
    }
    size--;
    return longest.pollLast();
  }

  /** Returns whether {@link #displace} would remove a request. */
  boolean mayDisplace(SmAddress client) {
    return displaceable(client) != null;
  }

  private @Nullable ArrayDeque<ServerHandshake> displaceable(SmAddress client) {
    ArrayDeque<ServerHandshake> own = clients.get(client);
    ArrayDeque<ServerHandshake> longest = null;
    for (ArrayDeque<ServerHandshake> each : clients.values()) {
      if (longest == null || each.size() > longest.size()) {
        longest = each;
      }
    }
    return longest == null || longest.size() < 2 + (own == null ? 0 : own.size()) ? null : longest;
  }

  boolean remove(ServerHandshake request) {
    ArrayDeque<ServerHandshake> requests = clients.get(request.client());
    if (requests == null || !requests.remove(request)) {
      return false;
    }
    if (requests.isEmpty()) {
      clients.remove(request.client());
    }
    size--;
    return true;
  }

  /** Removes all requests. */
  void clear() {
    clients.clear();
    size = 0;
  }
}
