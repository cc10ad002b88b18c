// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests for {@code RepeatedTestsTest}, some of which fail. Each run of a test creates a file in the
 * folder that the system property {@value #FOLDER} names.
 */
@Tag("sample")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class Samples {

  private static final String FOLDER = "ferrule.samples.folder";

  /** Records a run of the caller's test, and returns the number of its runs. */
  static int runs(String test) throws IOException {
    Path folder =
        Files.createDirectories(Path.of(System.getProperty(FOLDER)).resolve("runs").resolve(test));
    Files.createTempFile(folder, "run", "");
    try (var files = Files.list(folder)) {
      return (int) files.count();
    }
  }

  @Test
  void passes() throws IOException {
    assertThat(runs("passes")).isPositive();
  }

  @Test
  @Order(1) // before a crash
  void failsOnce() throws IOException {
    assertThat(runs("failsOnce")).as("number\tof\nruns").isGreaterThan(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"one", "another one"})
  void failsOnceForOneArgument(String argument) throws IOException {
    assertThat(runs(argument)).isGreaterThan(argument.equals("one") ? 0 : 1);
  }

  @Test
  void failsAlways() throws IOException {
    assertThat(runs("failsAlways")).isZero();
  }

  @Test
  void failsOnceByALeak() throws IOException {
    assertThat(runs("failsOnceByALeak")).as("leaked descriptors").isGreaterThan(1);
  }

  @Test
  void crashes() throws IOException {
    runs("crashes");
    crash();
  }

  static void crash() {
    MemorySegment.ofAddress(1L << 45).reinterpret(8).set(ValueLayout.JAVA_LONG, 0, 1);
  }

  @Test
  void crashesOnce() throws IOException {
    if (runs("crashesOnce") == 1) {
      crash();
    }
  }

  /** A class whose preparation fails the first time. */
  @Nested
  class FailsBeforeAllOnce {

    @BeforeAll
    static void prepare() throws IOException {
      assertThat(runs("prepare")).isGreaterThan(1);
    }

    @Test
    void passesAfterwards() {
      // The class fails, not this test.
    }
  }

  /** More tests than may be flaky. */
  @Nested
  class ManyFail {

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void eachFailsOnce(int argument) throws IOException {
      assertThat(runs("many" + argument)).isGreaterThan(1);
    }
  }
}
