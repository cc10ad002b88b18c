// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare;

import dev.ferrule.lab.compare.competitor.Competitor;
import dev.ferrule.lab.compare.competitor.Measure;
import dev.ferrule.lab.compare.transport.Transport;
import dev.ferrule.tools.Main;
import dev.ferrule.tools.Values;
import dev.ferrule.tools.VersionProvider;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Problems;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command {@code ./compare}. */
@Command(
    name = CompareCommand.NAME,
    mixinStandardHelpOptions = true,
    versionProvider = VersionProvider.class,
    sortOptions = false,
    description = {
      "Measures Ferrule, other messaging libraries and transports, and a bare cache line (the floor),"
          + " interleaved in one run. Prints medians, and the ratios of medians.",
      "Hypervisors migrate the processors of virtual machines. Each placement of the two processors"
          + " has a row: 'line ns' is the latency of a bare cache line between them, and 'rounds'"
          + " is the number of rounds in that placement.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  ./compare --quick",
      "  ./compare --only floor,sm,agrona --size 64 --rounds 9",
      "  ./compare --measure senders-2,senders-4,wake-up",
      "  ./with-rxe --with-tools ./compare --provider sendrecv --quick"
    })
public final class CompareCommand implements Callable<Integer> {

  static final String NAME = "compare";

  @Spec private CommandSpec spec;

  @Option(
      names = "--provider",
      paramLabel = "SCHEME",
      defaultValue = "sm",
      description =
          "Transport of Ferrule to compare: ${COMPLETION-CANDIDATES}. Those over RDMA need a"
              + " device and perftest. Default: ${DEFAULT-VALUE}.")
  private ComparedProvider provider;

  @Option(
      names = "--measure",
      split = ",",
      paramLabel = "NAME",
      description =
          "Measures: ${COMPLETION-CANDIDATES}. Default: all that a competitor supports, in about"
              + " four minutes, or a minute and a half with --quick.")
  private @Nullable List<Measure> measures;

  @Option(
      names = "--size",
      split = ",",
      paramLabel = "N",
      converter = Values.Size.class,
      description =
          "Message sizes in bytes. Default: 8 to 4096; 8 and 64 for batches and several senders, 8"
              + " for wake-up.")
  private @Nullable List<Integer> sizes;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Number of rounds for each size. Default: 5.")
  private @Nullable Integer rounds;

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "NAME",
      description = "Competitors to measure. Default: all.")
  private @Nullable List<String> only;

  @Option(names = "--quick", description = "Fewer sizes, fewer and shorter rounds.")
  private boolean quick;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description =
          "Also write the results as JSON, as docs/json.md specifies; - writes them to standard"
              + " output, instead of the tables.")
  private @Nullable Path json;

  private CompareCommand() {}

  public static void main(String[] arguments) {
    CommandRunner.exit(new CompareCommand(), NAME, "./" + NAME, arguments);
  }

  public static int run(PrintWriter out, PrintWriter err, String... arguments) {
    return CommandRunner.run(
        new CompareCommand(), NAME, "./" + NAME, out, err, Main.Look.PLAIN, arguments);
  }

  @Override
  public Integer call() {
    PrintWriter err = spec.commandLine().getErr();
    Comparison comparison =
        new PeerComparison(
                provider.ours(),
                competitors(),
                measures(),
                schedule(),
                line -> Problems.print(err, NAME, line))
            .run();
    PrintWriter out = spec.commandLine().getOut();
    String text = ComparisonJson.format(comparison);
    if (json != null && json.toString().equals("-")) {
      out.print(text);
      return ExitCode.OK;
    }
    out.print(ComparisonTable.format(comparison));
    if (json != null) {
      write(json, text);
    }
    return ExitCode.OK;
  }

  private List<Competitor> competitors() {
    List<Competitor> chosen =
        CommandRunner.chosen(spec, only, provider.competitors(), Competitor::name);
    if (only != null && !only.contains(provider.ours())) {
      throw usage("--only: " + provider.ours() + " must be included for the comparison");
    }
    return chosen;
  }

  private List<Measure> measures() {
    if (measures == null) {
      return provider.measures();
    }
    Competitor ours =
        provider.competitors().stream()
            .filter(competitor -> competitor.name().equals(provider.ours()))
            .findFirst()
            .orElseThrow();
    for (Measure measure : measures) {
      if (!ours.takesPart(measure)) {
        throw usage("--measure: " + provider.ours() + " does not support " + measure);
      }
    }
    return measures.stream().distinct().sorted().toList();
  }

  private Schedule schedule() {
    Schedule usual = Schedule.usual(quick);
    int longest = provider.longestBytes();
    if (sizes != null && sizes.stream().anyMatch(n -> n < Transport.SHORTEST || n > longest)) {
      throw usage("--size must be " + Transport.SHORTEST + " to " + longest + " bytes");
    }
    int turns = rounds != null ? rounds : usual.rounds();
    if (turns < 1) {
      throw usage("--rounds must be at least 1");
    }
    return sizes != null
        ? new Schedule(
            sizes.stream().distinct().toList(), turns, usual.roundMillis(), usual.warmUpMillis())
        : new Schedule(usual.sizesBytes(), turns, usual.roundMillis(), usual.warmUpMillis());
  }

  private ParameterException usage(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  private static void write(Path file, String text) {
    try {
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new ToolException(ExitCode.FAILED, "cannot write " + file + ": " + e.getMessage(), e);
    }
  }
}
