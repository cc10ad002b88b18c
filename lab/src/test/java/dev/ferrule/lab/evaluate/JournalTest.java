// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonObject;
import dev.ferrule.lab.model.Processors;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JournalTest {

  private static final String RATE = "rate";

  @TempDir private Path folder;
  private Path file;

  @BeforeEach
  void chooseFile() {
    file = folder.resolve("journal.jsonl");
  }

  private static JsonObject settings(int rounds) {
    JsonObject settings = new JsonObject();
    settings.addProperty("rounds", rounds);
    settings.addProperty("quick", true);
    return settings;
  }

  private static JsonObject result(double rate) {
    JsonObject result = new JsonObject();
    result.addProperty(RATE, rate);
    return result;
  }

  private static Task task(int size) {
    return new Point(
        "latency",
        "sm",
        Point.Kind.LATENCY,
        size,
        1,
        1,
        0,
        1,
        0,
        "spin",
        Map.of("maxMessage", "8192", "ring", "4KiB"),
        Map.of(),
        Processors.ofOneHost(2));
  }

  @Test
  void addedRecordsAreReadAgain() {
    try (Journal journal = Journal.open(file, settings(3))) {
      journal.add(task(16), 1, result(5));
      journal.add(task(16), 2, result(9));
      journal.add(task(16), 3, result(6));
      journal.fail(task(64), 1, "no luck");
    }
    try (Journal journal = Journal.open(file, settings(3))) {
      Records records = journal.records();
      assertThat(records.values(task(16), RATE)).containsExactly(5.0, 9.0, 6.0);
      assertThat(records.median(task(16), RATE)).hasValue(6);
      assertThat(records.spread(task(16), new Metric(RATE, "", Metric.Kind.NUMBER)))
          .hasValue(9.0 / 5);
      assertThat(records.has(task(16), 3)).isTrue();
      assertThat(records.has(task(16), 4)).isFalse();
      assertThat(records.has(task(64), 1)).isFalse();
      assertThat(records.failure(task(64))).contains("no luck");
    }
  }

  @Test
  void aFailureIsForgottenWhenTheTaskSucceeds() {
    try (Journal journal = Journal.open(file, settings(3))) {
      journal.fail(task(64), 1, "no luck");
      journal.add(task(64), 1, result(1));
      assertThat(journal.records().failure(task(64))).isEmpty();
    }
  }

  @Test
  void theMachinesStateIsKeptForEachContinuation() {
    JsonObject quiet = new JsonObject();
    quiet.addProperty(Machine.LOAD, "0.01");
    JsonObject busy = new JsonObject();
    busy.addProperty(Machine.LOAD, "7.5");
    try (Journal journal = Journal.open(file, settings(3))) {
      journal.start(quiet);
      journal.add(task(16), 1, result(5));
    }
    try (Journal journal = Journal.open(file, settings(3))) {
      journal.start(busy);
    }
    try (Journal journal = Journal.open(file, settings(3))) {
      assertThat(journal.records().starts()).containsExactly(quiet, busy);
      assertThat(journal.records().values(task(16), RATE)).containsExactly(5.0);
    }
  }

  /** The file may end anywhere: within the settings, in a line, or just before its terminator. */
  @Test
  void aTruncatedJournalContinuesFromTheLastCompleteLine() throws IOException {
    try (Journal journal = Journal.open(file, settings(3))) {
      journal.add(task(16), 1, result(5));
      journal.add(task(64), 1, result(7));
    }
    byte[] whole = Files.readAllBytes(file);
    for (int length = 0; length <= whole.length; length++) {
      Files.write(file, Arrays.copyOf(whole, length));
      try (Journal journal = Journal.open(file, settings(3))) {
        if (!journal.records().has(task(16), 1)) {
          journal.add(task(16), 1, result(5));
        }
        if (!journal.records().has(task(64), 1)) {
          journal.add(task(64), 1, result(7));
        }
      }
      try (Journal journal = Journal.open(file, settings(3))) {
        assertThat(journal.records().values(task(16), RATE)).containsExactly(5.0);
        assertThat(journal.records().values(task(64), RATE)).containsExactly(7.0);
      }
      assertThat(Files.readAllLines(file)).hasSize(3);
    }
  }

  @Test
  void otherSettingsAreRefusedByName() {
    Journal.open(file, settings(3)).close();
    assertThatThrownBy(() -> Journal.open(file, settings(5)))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("an evaluation with other settings: rounds was 3 and is 5;")
        .hasMessageContaining("choose another folder");
  }

  @Test
  void concurrentUseIsRefused() {
    try (Journal journal = Journal.open(file, settings(3))) {
      assertThatThrownBy(() -> Journal.open(file, settings(3)))
          .isInstanceOf(ToolException.class)
          .hasMessageContaining("in use by another 'ferrule evaluate'");
      assertThat(journal.records().has(task(16), 1)).isFalse();
    }
  }

  @Test
  void aFileOfAnotherFormatIsNotChanged() throws IOException {
    for (String text : new String[] {"hello\n", "hello", "{}\n", "{\"settings\":1}\n", "[]\n"}) {
      Files.writeString(file, text);
      assertThatThrownBy(() -> Journal.open(file, settings(3)))
          .isInstanceOf(ToolException.class)
          .hasMessageContaining("line 1 is not from an evaluation");
      assertThat(Files.readString(file)).isEqualTo(text);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"task\":5}",
        "{\"task\":{},\"round\":\"x\",\"result\":{}}",
        "{\"task\":{},\"round\":0,\"result\":{}}",
        "{\"task\":{},\"round\":1.5,\"result\":{}}",
        "{\"task\":{},\"round\":[1],\"result\":{}}",
        "{\"task\":{},\"failed\":{}}",
        "{\"task\":{}}"
      })
  void anInvalidLineInTheMiddleIsNamed(String line) throws IOException {
    Journal.open(file, settings(3)).close();
    Files.write(file, (Files.readString(file) + line + "\n").getBytes(StandardCharsets.UTF_8));
    assertThatThrownBy(() -> Journal.open(file, settings(3)))
        .isInstanceOf(ToolException.class)
        .hasMessageContaining("line 2 is not from an evaluation; remove that line");
  }
}
