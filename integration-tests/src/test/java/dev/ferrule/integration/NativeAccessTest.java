// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.Ferrule;
import dev.ferrule.ProviderInfo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A JVM that does not permit native access. */
class NativeAccessTest {

  private static final int QUESTIONS = 3;

  /** Prints the availability of all providers several times. */
  static final class Questions {

    private Questions() {}

    public static void main(String[] args) {
      for (int i = 0; i < QUESTIONS; i++) {
        for (ProviderInfo provider : Ferrule.providers()) {
          System.out.println(provider.scheme() + ": " + provider.availability());
        }
      }
    }
  }

  @TempDir Path directory;

  @Test
  void everyQuestionForTheAvailabilityIsAnsweredByTheFlagThatIsMissing() throws Exception {
    List<String> answers = answers();

    assertThat(answers)
        .hasSize(3 * QUESTIONS)
        .allMatch(answer -> answer.contains("--enable-native-access"))
        .noneMatch(answer -> answer.contains("initializ"))
        .noneMatch(answer -> answer.contains("rdma-core"));
    assertThat(List.copyOf(answers.subList(3, 6))).isEqualTo(answers.subList(0, 3));
  }

  private List<String> answers() throws IOException, InterruptedException {
    Path out = directory.resolve("out");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--illegal-native-access=deny",
                "-cp",
                System.getProperty("java.class.path"),
                Questions.class.getName())
            .redirectOutput(out.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    assertThat(process.exitValue()).isZero();
    return Files.readAllLines(out);
  }
}
