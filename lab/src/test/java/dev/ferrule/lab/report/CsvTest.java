// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CsvTest {

  @Test
  void rowsOfDifferentColumnsMakeOneTable() {
    assertThat(Csv.format(List.of(Map.of("a", "1"), Map.of("b", "x,\"y\""))))
        .isEqualTo("a,b\n1,\n,\"x,\"\"y\"\"\"\n");
  }
}
