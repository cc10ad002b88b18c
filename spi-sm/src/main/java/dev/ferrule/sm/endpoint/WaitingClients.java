// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The waiting connection requests of a listener. Each client endpoint has a first-in, first-out
 * queue. Users are served in turns, and so are the endpoints of a user. An endpoint with many
 * requests therefore delays only its own requests, and a user with many endpoints only that user's.
 * Not thread-safe.
 *
 * @param <R> the type of the requests
 */
final class WaitingClients<R extends WaitingClients.Request> {

  /** A request, in the queue of its endpoint. */
  interface Request {

    /** Returns the address of the client's endpoint. */
    SmAddress client();

    /** Returns the id of the client's user. */
    int user();
  }

  /** How many unconfirmed connections clients have. */
  interface Unconfirmed {

    /** Returns how many an endpoint has; not 0 for a few endpoints only. */
    int ofEndpoint(SmAddress client);

    /** Returns how many all endpoints of a user have. */
    int ofUser(int user);
  }

  /** By user and endpoint, those served least recently first. */
  private final LinkedHashMap<Integer, LinkedHashMap<SmAddress, ArrayDeque<R>>> users =
      new LinkedHashMap<>();

  private int size;

  int size() {
    return size;
  }

  void add(R request) {
    users
        .computeIfAbsent(request.user(), user -> new LinkedHashMap<>())
        .computeIfAbsent(request.client(), client -> new ArrayDeque<>())
        .add(request);
    size++;
  }

  /**
   * Removes the next request: of the user with the fewest unconfirmed connections, and of that
   * user's endpoint with the fewest; of several, the one that was served least recently.
   */
  @Nullable R poll(Unconfirmed unconfirmed) {
    R next = next(unconfirmed);
    if (next != null) {
      remove(next);
      LinkedHashMap<SmAddress, ArrayDeque<R>> endpoints = users.get(next.user());
      if (endpoints != null) { // behind all others
        moveToEnd(endpoints, next.client());
        moveToEnd(users, next.user());
      }
    }
    return next;
  }

  private static <K, V> void moveToEnd(LinkedHashMap<K, V> map, K key) {
    V value = map.get(key);
    if (value != null) {
      map.putLast(key, value);
    }
  }

  /** Returns the next request; null if there is none. */
  @Nullable R next(Unconfirmed unconfirmed) {
    Map<SmAddress, ArrayDeque<R>> endpoints = ofFewest(users, unconfirmed::ofUser);
    ArrayDeque<R> requests =
        endpoints == null ? null : ofFewest(endpoints, unconfirmed::ofEndpoint);
    return requests == null ? null : requests.element();
  }

  /** Returns the value of the first key with the fewest unconfirmed connections; null if empty. */
  private static <K, V> @Nullable V ofFewest(Map<K, V> all, ToIntFunction<K> unconfirmed) {
    V first = null;
    int fewest = Integer.MAX_VALUE;
    for (Map.Entry<K, V> each : all.entrySet()) {
      int count = unconfirmed.applyAsInt(each.getKey());
      if (count < fewest) {
        first = each.getValue();
        fewest = count;
      }
      if (count == 0) {
        break;
      }
    }
    return first;
  }

  /**
   * Removes a request to make room for one of the given client: the latest request of the endpoint
   * with the most requests. That endpoint belongs to the user with the most requests, if that user
   * has at least two more than the client's user. Otherwise it belongs to the client's user, and
   * has at least two requests more than the client. Returns the removed request, which its client
   * retransmits; null if there is none.
   */
  @Nullable R displace(SmAddress client, int user) {
    ArrayDeque<R> longest = displaceable(client, user);
    if (longest == null) {
      return null;
    }
    R displaced = longest.getLast();
    remove(displaced);
    return displaced;
  }

  /** Returns whether {@link #displace} would remove a request. */
  boolean mayDisplace(SmAddress client, int user) {
    return displaceable(client, user) != null;
  }

  private @Nullable ArrayDeque<R> displaceable(SmAddress client, int user) {
    Map<SmAddress, ArrayDeque<R>> own = endpoints(user);
    Map<SmAddress, ArrayDeque<R>> most = own;
    for (Map<SmAddress, ArrayDeque<R>> each : users.values()) {
      if (requests(each) >= 2 + requests(own) && requests(each) > requests(most)) {
        most = each;
      }
    }
    ArrayDeque<R> longest = null;
    for (ArrayDeque<R> each : most.values()) {
      longest = longest == null || each.size() > longest.size() ? each : longest;
    }
    ArrayDeque<R> ownQueue = own.get(client);
    int least = most == own ? 2 + (ownQueue == null ? 0 : ownQueue.size()) : 1;
    return longest == null || longest.size() < least ? null : longest;
  }

  private Map<SmAddress, ArrayDeque<R>> endpoints(int user) {
    Map<SmAddress, ArrayDeque<R>> endpoints = users.get(user);
    return endpoints == null ? Map.of() : endpoints;
  }

  private static <R> int requests(Map<SmAddress, ArrayDeque<R>> endpoints) {
    return endpoints.values().stream().mapToInt(ArrayDeque::size).sum();
  }

  boolean remove(R request) {
    Map<SmAddress, ArrayDeque<R>> endpoints = endpoints(request.user());
    ArrayDeque<R> requests = endpoints.get(request.client());
    if (requests == null || !requests.remove(request)) {
      return false;
    }
    size--;
    if (requests.isEmpty()) {
      endpoints.remove(request.client());
    }
    if (endpoints.isEmpty()) {
      users.remove(request.user());
    }
    return true;
  }

  /** Removes all requests. */
  void clear() {
    users.clear();
    size = 0;
  }
}
