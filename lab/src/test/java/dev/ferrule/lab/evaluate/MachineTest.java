// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import org.junit.jupiter.api.Test;

class MachineTest {

  @Test
  void valuesOfTheKernelAreFormattedForReaders() {
    assertThat(Machine.kibibytes("24683520 kB")).isEqualTo("23.5 GiB");
    assertThat(Machine.kibibytes("32K")).isEqualTo("32 KiB");
    assertThat(Machine.loads("0.36 0.50 0.43 2/345 12345"))
        .isEqualTo("0.36 (1 minute), 0.50 (5 minutes), 0.43 (15 minutes)");
    assertThat(Machine.lockedMemory("8388608 8388608 bytes")).isEqualTo("8 MiB");
    assertThat(Machine.lockedMemory("65536 unlimited bytes"))
        .isEqualTo("64 KiB, hard limit unlimited");
    assertThat(Machine.processorLimit("max 100000")).isEqualTo("unlimited");
    assertThat(Machine.processorLimit("150000 100000")).isEqualTo("1.5 processors");
    assertThat(Machine.limit("9223372036854771712")).isEqualTo("unlimited");
    assertThat(Machine.limit("max")).isEqualTo("unlimited");
    assertThat(Machine.limit("2147483648")).isEqualTo("2 GiB");
  }

  @Test
  void loadAndEmulationHaveMachineReadableFields() {
    assertThat(Machine.load("0.36 0.50 0.43 2/345 12345")).hasValue(0.36);
    assertThat(Machine.load("?")).isEmpty();
    JsonObject machine = Machine.look("test").json();
    assertThat(Machine.loadOf(machine).getAsDouble()).isNotNegative();
    assertThat(machine.getAsJsonObject("raw").get("emulated").getAsBoolean())
        .isEqualTo(Machine.isEmulated(machine))
        .isEqualTo("tcg".equals(System.getenv("FERRULE_RXE_VM")));
    assertThat(Machine.loadOf(new JsonObject())).isEmpty();
    assertThat(Machine.isEmulated(new JsonObject())).isFalse();
  }

  @Test
  void unexpectedValuesAreLeftAsTheyAre() {
    assertThat(Machine.kibibytes("a lot")).isEqualTo("a lot");
    assertThat(Machine.loads("?")).isEqualTo("?");
    assertThat(Machine.lockedMemory("?")).isEqualTo("?");
    assertThat(Machine.processorLimit("1 0")).isEqualTo("1 0");
    assertThat(Machine.limit("?")).isEqualTo("?");
  }

  @Test
  void theReportHasNoRawFigureOfTheMachine() {
    Machine machine = Machine.look("test");
    assertThat(machine.facts()).containsKey("host");
    assertThat(machine.facts().values())
        .noneMatch(fact -> fact.matches(".*\\d kB.*|.*\\d{7,} .*|.*\\d+/\\d+ \\d+$"));
    assertThat(machine.facts().get(Machine.BEGAN)).matches("\\d{4}-\\d\\d-\\d\\d [0-9:]{8} UTC");
  }
}
