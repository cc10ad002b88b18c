// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.spi.ConnectionSample;
import dev.ferrule.support.CounterSnapshot;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The file with the counters of an endpoint, in whose place any process of the user may put
 * another.
 */
class CountersFileTest {

  private static final String LINE = "17 4567/1#23 1 2 3 4 5 6 7 8 9 0.250\n";
  private static final List<String> TEXTS =
      List.of(
          "counters 1 12345\n",
          "counters 1 -12345\n" + LINE,
          "counters 1 12345\n" + LINE + "18 1/2#24 0 0 0 0 0 0 0 0 9223372036854775807 1.000\n");

  @TempDir Path directory = Path.of("");

  private Path endpoint;
  private Path file;

  @BeforeEach
  void makeEndpoint() throws IOException {
    endpoint = Files.createDirectories(directory.resolve("4567/1"));
    file = endpoint.resolve(EndpointFiles.COUNTERS);
  }

  private static ConnectionSample sample(int number, double fill) {
    return new ConnectionSample(
        number,
        "4567/1#23",
        0,
        new CounterSnapshot(
            1, 2, 3, 4, 5, 6, OptionalLong.of(7), OptionalLong.of(8), 9, Optional.empty()),
        fill);
  }

  private static ConnectionSample at(long nanos, ConnectionSample sample) {
    return new ConnectionSample(
        sample.number(), sample.peer(), nanos, sample.counters(), sample.sendFill());
  }

  @Test
  void whatIsWrittenIsReadAndReplacedByTheNextWrite() throws IOException {
    for (List<ConnectionSample> samples :
        List.of(
            List.of(sample(17, 0), sample(1, 1)),
            List.of(sample(3, 0.25), sample(4, 0.007), sample(5, 0.98)),
            List.<ConnectionSample>of())) {
      CountersFile.write(endpoint, samples);

      CountersFile read = CountersFile.read(endpoint).orElseThrow();
      assertThat(CountersFile.time(endpoint)).contains(read.nanos());
      assertThat(read.samples())
          .isEqualTo(samples.stream().map(sample -> at(read.nanos(), sample)).toList());
    }
    try (Stream<Path> files = Files.list(endpoint)) {
      assertThat(files).containsExactly(file);
    }
  }

  @Test
  void eachFileHasItsOwnTime() throws IOException {
    CountersFile.write(endpoint, List.of());
    long first = CountersFile.time(endpoint).orElseThrow();
    CountersFile.write(endpoint, List.of());

    assertThat(CountersFile.time(endpoint).orElseThrow()).isGreaterThan(first);
  }

  @Test
  void anythingElseInPlaceOfTheFileIsNotRead() throws Exception {
    assertThat(CountersFile.read(endpoint)).isEmpty();
    Files.createDirectory(file);
    assertThat(CountersFile.read(endpoint)).isEmpty();
    Files.delete(file);
    Files.createSymbolicLink(file, Files.writeString(directory.resolve("other"), TEXTS.getFirst()));
    assertThat(CountersFile.read(endpoint)).isEmpty();
    Files.delete(file);
    assertThat(new ProcessBuilder("mkfifo", file.toString()).start().waitFor()).isZero();
    assertThat(CountersFile.read(endpoint)).isEmpty();
    assertThat(CountersFile.time(endpoint)).isEmpty();
    Files.delete(file);
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(1L << 40);
    }
    assertThat(CountersFile.time(endpoint)).isEmpty();
  }

  @Test
  void aTextWithAnInvalidValueIsNotRead() {
    for (String valid : TEXTS) {
      assertThat(CountersFile.parse(valid)).isPresent();
    }
    for (String line :
        Stream.of(
                "17 4567/1#23 1 2 3 4 5 6 7 8 0.250", // a counter is missing
                "17 4567/1#23 1 2 3 4 5 6 7 8 9223372036854775808 0.250",
                "17 \u001b[2J#23 1 2 3 4 5 6 7 8 9 0.250",
                "17 4567/1#23 1 2 3 4 5 6 7 8 -9 0.250",
                "17 4567/1#23 1 2 3 4 5 6 7 8 9 NaN")
            .collect(Collectors.toList())) {
      assertThat(CountersFile.parse("counters 1 5\n" + line + "\n")).as(line).isEmpty();
    }
    assertThat(CountersFile.parse("counters 2 5\n")).isEmpty();
    assertThat(CountersFile.parse("counters 1 5\n" + LINE.strip())).as("cut off").isEmpty();
  }
}
