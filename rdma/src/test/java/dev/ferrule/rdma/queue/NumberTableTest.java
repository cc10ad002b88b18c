// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Lookup, insertion and removal. */
final class NumberTableTest {

  private static final int ROUNDS = 200_000;

  private final NumberTable<String> table = new NumberTable<>();

  @Test
  void shouldBeEmptyAtFirst() {
    assertThat(table.get(0)).isNull();
    assertThat(table.get(17)).isNull();
  }

  @Test
  void shouldRemoveANumberAndKeepTheOthers() {
    table.put(1, "one");
    table.put(2, "two");

    table.remove(1);
    table.remove(3); // not present

    assertThat(table.get(1)).isNull();
    assertThat(table.get(2)).isEqualTo("two");
  }

  @Test
  void shouldReplaceTheValueOfANumber() {
    table.put(0x1234, "old");

    table.put(0x1234, "new");

    assertThat(table.get(0x1234)).isEqualTo("new");
  }

  @Test
  void shouldBehaveLikeAHashMap() {
    Map<Integer, String> map = new HashMap<>();
    Random random = new Random(5);
    for (int i = 0; i < ROUNDS; i++) {
      int number = random.nextInt(300) * (random.nextBoolean() ? 1 : 16); // with many collisions
      if (random.nextInt(3) == 0) {
        map.remove(number);
        table.remove(number);
      } else {
        map.put(number, "value " + i);
        table.put(number, "value " + i);
      }
      assertThat(table.get(number)).isEqualTo(map.get(number));
    }
    for (int number = 0; number < 300 * 16; number++) {
      assertThat(table.get(number)).isEqualTo(map.get(number));
    }
  }
}
