// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.support.Fuzzer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Numbers, sizes and times on the command line. */
class ValuesFuzzTest {

  /** A command with nothing but a numeric option. */
  @CommandLine.Command
  private static final class Counted implements Runnable {

    @Option(names = "--count")
    private long count;

    @Override
    public void run() {}
  }

  @Test
  void aSizeOrATimeIsParsedOrQuotedInTheError() {
    Values.Size sizes = new Values.Size();
    Values.Time times = new Values.Time();
    new Fuzzer("sizes and times of the command", 2_000)
        .permits(TypeConversionException.class)
        .quotes()
        .text(
            List.of("64KiB", "1MiB", "4096", "250ms", "5s", "2 m", "0.5"),
            text -> {
              if (text.hashCode() % 2 == 0) {
                assertThat(sizes.convert(text)).isBetween(0, 1 << 30);
              } else {
                assertThat(times.convert(text)).isBetween(Duration.ZERO, Duration.ofHours(24));
              }
              return true;
            });
  }

  @Test
  void aNumberIsParsedOrQuotedInTheError() {
    Counted counted = new Counted();
    CommandLine command = new CommandLine(counted);
    Values.register(command);
    new Fuzzer("numbers of the command", 1_000)
        .permits(CommandLine.ParameterException.class)
        .quotes()
        .allocates(4 << 20) // by picocli's parser
        .text(
            List.of("1000000", "1e6", "12.0", "-3", "1e-2"),
            text -> {
              counted.count = 0;
              command.parseArgs("--count=" + text);
              return true;
            });
  }
}
