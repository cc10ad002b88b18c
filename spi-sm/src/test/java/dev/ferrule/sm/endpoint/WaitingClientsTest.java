// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The order in which waiting clients are served. */
class WaitingClientsTest {

  private static final int HONEST = 1000;
  private static final int GREEDY = 2000;

  private record Request(SmAddress client, int user, int number)
      implements WaitingClients.Request {}

  private final WaitingClients<Request> waiting = new WaitingClients<>();
  private final List<Request> unconfirmed = new ArrayList<>();
  private final WaitingClients.Unconfirmed counts =
      new WaitingClients.Unconfirmed() {
        @Override
        public int ofEndpoint(SmAddress client) {
          return (int) unconfirmed.stream().filter(each -> each.client.equals(client)).count();
        }

        @Override
        public int ofUser(int user) {
          return (int) unconfirmed.stream().filter(each -> each.user == user).count();
        }
      };

  private static Request request(int user, int endpoint, int number) {
    URI uri = URI.create("sm:///dev/shm/app/" + (user + endpoint) + "/1");
    return new Request(SmAddress.parse(uri), user, number);
  }

  private Request add(int user, int endpoint, int number) {
    Request request = request(user, endpoint, number);
    waiting.add(request);
    return request;
  }

  private Request offer() {
    Request next = waiting.poll(counts);
    assertThat(next).isNotNull();
    unconfirmed.add(next);
    return next;
  }

  @Test
  void endpointsOfAUserAreServedInTurns() {
    Request first = add(HONEST, 1, 1);
    Request second = add(HONEST, 1, 2);
    Request other = add(HONEST, 2, 1);
    assertThat(List.of(offer(), offer(), offer())).containsExactly(first, other, second);
    assertThat(waiting.size()).isZero();
    assertThat(waiting.poll(counts)).isNull();
  }

  @Test
  void aUserWithManyEndpointsDelaysNoOtherUser() {
    for (int endpoint = 1; endpoint <= 20; endpoint++) {
      add(GREEDY, endpoint, 1);
      add(GREEDY, endpoint, 2);
    }
    for (int i = 0; i < 16; i++) {
      offer();
    }
    Request first = add(HONEST, 1, 1);
    Request second = add(HONEST, 1, 2);
    assertThat(offer()).isEqualTo(first);
    assertThat(offer()).isEqualTo(second);
  }

  @Test
  void usersAreServedInTurnsEvenIfAllConfirmAtOnce() {
    for (int endpoint = 1; endpoint <= 20; endpoint++) {
      add(GREEDY, endpoint, 1);
    }
    Request first = add(HONEST, 1, 1);
    Request second = add(HONEST, 1, 2);
    List<Request> served = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      served.add(offer());
      unconfirmed.clear();
    }
    assertThat(served).contains(first, second);
  }

  @Test
  void aFullBacklogTakesAPlaceFromTheUserWithTheMost() {
    for (int endpoint = 1; endpoint <= 20; endpoint++) {
      add(GREEDY, endpoint, 1);
    }
    Request honest = add(HONEST, 1, 1);
    Request another = request(HONEST, 2, 1);
    assertThat(waiting.mayDisplace(another.client, HONEST)).isTrue();
    assertThat(waiting.displace(another.client, HONEST)).matches(each -> each.user == GREEDY);
    assertThat(waiting.size()).isEqualTo(20);

    Request greedy = request(GREEDY, 30, 1);
    assertThat(waiting.mayDisplace(greedy.client, GREEDY)).as("none has two").isFalse();
    assertThat(waiting.displace(greedy.client, GREEDY)).isNull();
    assertThat(waiting.remove(honest)).isTrue();
    assertThat(waiting.remove(honest)).isFalse();
  }

  @Test
  void aUserWithManyEndpointsTakesNoPlaceFromAnotherUsersQueue() {
    for (int number = 1; number <= 5; number++) {
      add(HONEST, 1, number);
    }
    for (int endpoint = 1; endpoint <= 20; endpoint++) {
      add(GREEDY, endpoint, 1);
    }
    Request greedy = request(GREEDY, 30, 1);
    assertThat(waiting.displace(greedy.client, GREEDY)).isNull();
  }

  @Test
  void ofOneUserTheEndpointWithTheMostLosesItsLatest() {
    add(HONEST, 1, 1);
    add(HONEST, 2, 1);
    Request latest = add(HONEST, 2, 2);
    assertThat(waiting.displace(request(HONEST, 3, 1).client, HONEST)).isEqualTo(latest);
    assertThat(waiting.displace(request(HONEST, 3, 1).client, HONEST)).isNull();
  }
}
