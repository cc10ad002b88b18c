// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The waiting connection requests of a listener. Each client endpoint has a first-in, first-out
 * queue. Users are served in turns, and so are the endpoints of a user. An endpoint with many
 * requests therefore delays its own, and a user with many endpoints those of that user. Not
 * thread-safe.
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

  private final Map<SmAddress, ArrayDeque<R>> clients = new LinkedHashMap<>();
  private final Map<Integer, Integer> requestsOfUser = new HashMap<>();
  private int size;

  int size() {
    return size;
  }

  void add(R request) {
    clients.computeIfAbsent(request.client(), client -> new ArrayDeque<>()).add(request);
    count(request, 1);
  }

  private void count(R request, int change) {
    size += change;
    requestsOfUser.merge(
        request.user(), change, (before, more) -> before + more == 0 ? null : before + more);
  }

  /**
   * Removes the next request: of the users with the fewest unconfirmed connections, and of their
   * endpoints with the fewest, the one that was served least recently.
   */
  @Nullable R poll(Unconfirmed unconfirmed) {
    R next = next(unconfirmed);
    if (next == null) {
      return null;
    }
    ArrayDeque<R> requests = clients.remove(next.client());
    if (requests != null) {
      requests.remove();
      if (!requests.isEmpty()) {
        clients.put(next.client(), requests); // behind all others
      }
    }
    count(next, -1);
    return next;
  }

  /** Returns the next request; null if there is none. */
  @Nullable R next(Unconfirmed unconfirmed) {
    R best = null;
    int fewestOfUser = Integer.MAX_VALUE;
    int fewest = Integer.MAX_VALUE;
    for (ArrayDeque<R> requests : clients.values()) {
      R first = requests.element();
      int ofUser = unconfirmed.ofUser(first.user());
      int ofEndpoint = unconfirmed.ofEndpoint(first.client());
      if (ofUser < fewestOfUser || (ofUser == fewestOfUser && ofEndpoint < fewest)) {
        best = first;
        fewestOfUser = ofUser;
        fewest = ofEndpoint;
      }
      if (ofUser == 0) {
        break;
      }
    }
    return best;
  }

  /**
   * Removes the latest request of the endpoint with the most, if another request is to take its
   * place. Its client retransmits it.
   *
   * @param client the endpoint of the other request
   * @param user its user
   * @return the removed request, which is of a user that has at least two more than that one; or,
   *     if there is none, of an endpoint that has at least two more than that one; null if there is
   *     none either
   */
  @Nullable R displace(SmAddress client, int user) {
    ArrayDeque<R> longest = displaceable(client, user);
    if (longest == null) {
      return null;
    }
    R displaced = longest.removeLast();
    if (longest.isEmpty()) {
      clients.remove(displaced.client());
    }
    count(displaced, -1);
    return displaced;
  }

  /** Returns whether {@link #displace} would remove a request. */
  boolean mayDisplace(SmAddress client, int user) {
    return displaceable(client, user) != null;
  }

  private @Nullable ArrayDeque<R> displaceable(SmAddress client, int user) {
    int ownOfUser = requestsOfUser.getOrDefault(user, 0);
    ArrayDeque<R> own = clients.get(client);
    int ownSize = own == null ? 0 : own.size();
    ArrayDeque<R> longestOfUser = null;
    int mostOfUser = ownOfUser + 1;
    ArrayDeque<R> longest = null;
    for (ArrayDeque<R> each : clients.values()) {
      int ofUser = requestsOfUser.getOrDefault(each.element().user(), 0);
      if (ofUser > mostOfUser
          || (ofUser == mostOfUser
              && longestOfUser != null
              && each.size() > longestOfUser.size())) {
        longestOfUser = each;
        mostOfUser = ofUser;
      }
      // not of a user that has fewer than this one
      if (ofUser >= ownOfUser
          && each.size() >= 2 + ownSize
          && (longest == null || each.size() > longest.size())) {
        longest = each;
      }
    }
    return longestOfUser == null ? longest : longestOfUser;
  }

  boolean remove(R request) {
    ArrayDeque<R> requests = clients.get(request.client());
    if (requests == null || !requests.remove(request)) {
      return false;
    }
    if (requests.isEmpty()) {
      clients.remove(request.client());
    }
    count(request, -1);
    return true;
  }

  /** Removes all requests. */
  void clear() {
    clients.clear();
    requestsOfUser.clear();
    size = 0;
  }
}
