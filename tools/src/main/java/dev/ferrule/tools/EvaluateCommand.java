// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.Ferrule;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.tools.evaluate.Catalogue;
import dev.ferrule.tools.evaluate.Effort;
import dev.ferrule.tools.evaluate.Evaluation;
import dev.ferrule.tools.evaluate.Experiment;
import dev.ferrule.tools.evaluate.ExperimentSource;
import dev.ferrule.tools.support.Affinity;
import dev.ferrule.tools.support.Endpoint;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Guarded;
import dev.ferrule.tools.support.Problems;
import dev.ferrule.tools.support.StatusLine;
import dev.ferrule.tools.support.ToolException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures everything and writes a report. */
@Command(
    name = "evaluate",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Runs a set of experiments and writes a report of them, one HTML page that needs nothing else:"
          + " plots, tables, the machine, and how well a performance model explains the figures.",
      "What was measured is kept in the folder as it comes. Ended by Ctrl-C, the same command goes"
          + " on where it was; with other settings it refuses to.",
      "Hosts move the processors of virtual machines. Where that matters, a bare cache line is timed"
          + " around each point, and rounds of two places are not mixed; the report says which count.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  ferrule evaluate --out here",
      "  ferrule evaluate --provider sm --quick --only latency,bandwidth --out here",
      "  ferrule evaluate --provider sm --peers --only latency,peers-latency --out here",
      "  ferrule evaluate --list",
      "",
      "What the parameters that it finds mean for more nodes than there are here:",
      "  ferrule model --params here/params.json --nodes 64"
    })
final class EvaluateCommand implements Callable<Integer> {

  private static final int ROUNDS = 5;
  private static final int QUICK_ROUNDS = 3;

  @Spec private CommandSpec spec;

  @Option(
      names = "--provider",
      split = ",",
      paramLabel = "SCHEME",
      description = "The transports to measure. Default: all that work here.")
  private List<String> schemes = List.of();

  @Option(names = "--quick", description = "Fewer points, less time for each, 3 rounds.")
  private boolean quick;

  @Option(
      names = "--out",
      paramLabel = "FOLDER",
      description = "Where the report and the figures go; made if it is not there.")
  private @Nullable Path out;

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "ID",
      description = "Run only these experiments; the others of the folder stay in the report.")
  private List<String> only = List.of();

  @Option(
      names = "--peers",
      description =
          "Also measure others who carry messages, in turns with Ferrule's own. From a checkout,"
              + " ./ferrule fetches what that takes.")
  private boolean peers;

  @Option(names = "--list", description = "Only tell which experiments there are.")
  private boolean list;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "How often each point is measured. Default: 5, or 3 with --quick.")
  private @Nullable Integer rounds;

  @Option(
      names = "--messages",
      paramLabel = "N",
      description =
          "How many messages a point takes in each round. Default: what fits in a short time.")
  private @Nullable Long messages;

  @Option(
      names = "--host",
      paramLabel = "HOST",
      description =
          "Where the servers that are started listen, for transports that have hosts. Default: an"
              + " RDMA device's address.")
  private @Nullable String host;

  @Override
  public Integer call() {
    List<ConnectionProvider> providers = providers();
    int processors = Math.max(1, Affinity.allowed().size());
    List<Experiment> experiments = new ArrayList<>();
    for (ConnectionProvider provider : providers) {
      experiments.addAll(new Catalogue(provider, quick, processors).experiments());
      experiments.addAll(beside(provider.scheme()));
    }
    Set<String> ids = new LinkedHashSet<>();
    experiments.forEach(experiment -> ids.add(experiment.id()));
    Set<String> chosen = chosen(ids);
    if (list) {
      print(experiments, chosen);
      providers.stream()
          .filter(provider -> !provider.availability().available())
          .forEach(provider -> tell(doesNotWork(provider)));
      return ExitCode.OK;
    }
    Evaluation evaluation = evaluation(providers, experiments);
    Guarded<AutoCloseable> lastWord = Guarded.of(this::sayHowToGoOn);
    try {
      Evaluation.Outcome outcome = evaluation.run(chosen, Optional.ofNullable(host), this::tell);
      outcome.failures().forEach(this::tell);
      spec.commandLine().getOut().println(outcome.report());
      return outcome.failures().isEmpty() ? ExitCode.OK : ExitCode.FAILED;
    } finally {
      if (!Guarded.exiting()) {
        lastWord.release();
      }
    }
  }

  /** The experiments on others, which are in a module of their own. */
  private List<Experiment> beside(String scheme) {
    if (!peers) {
      return List.of();
    }
    List<ExperimentSource> sources =
        ServiceLoader.load(ExperimentSource.class).stream()
            .map(ServiceLoader.Provider::get)
            .toList();
    if (sources.isEmpty()) {
      throw new ToolException(
          ExitCode.USAGE,
          "--peers needs Ferrule's module 'peers' on the class path; run ./ferrule in a checkout,"
              + " which sees to that");
    }
    return sources.stream().flatMap(source -> source.experiments(scheme, quick).stream()).toList();
  }

  private Evaluation evaluation(List<ConnectionProvider> providers, List<Experiment> experiments) {
    Path folder = out;
    if (folder == null) {
      throw new ParameterException(
          spec.commandLine(), "say where the report is to go, such as --out evaluation");
    }
    int times = rounds != null ? rounds : quick ? QUICK_ROUNDS : ROUNDS;
    if (times < 1 || messages != null && messages < 1) {
      throw new ParameterException(spec.commandLine(), "--rounds and --messages are at least 1");
    }
    for (ConnectionProvider provider : providers) {
      if (!provider.availability().available()) {
        throw new ToolException(ExitCode.NO_PROVIDER, doesNotWork(provider));
      }
    }
    return new Evaluation(
        folder,
        new Effort(
            quick, times, messages == null ? OptionalLong.empty() : OptionalLong.of(messages)),
        providers.stream().map(ConnectionProvider::scheme).toList(),
        providers.stream()
            .filter(TransportOptions::isAcknowledged)
            .map(ConnectionProvider::scheme)
            .collect(Collectors.toSet()),
        experiments,
        "ferrule " + VersionProvider.build());
  }

  private static String doesNotWork(ConnectionProvider provider) {
    return provider.scheme() + " does not work here; 'ferrule doctor' says why";
  }

  /** The last thing that happens when a signal ends the process. */
  private void sayHowToGoOn() {
    tell("interrupted; what was measured is in " + out + ", and the same command goes on there");
  }

  private void tell(String line) {
    StatusLine.onTerminal().clear();
    Problems.print(spec.commandLine().getErr(), line);
  }

  private List<ConnectionProvider> providers() {
    if (!schemes.isEmpty()) {
      return schemes.stream().distinct().map(Endpoint::requiredProvider).toList();
    }
    List<ConnectionProvider> working =
        Ferrule.providers().stream()
            .filter(provider -> list || provider.availability().available())
            .toList();
    if (working.isEmpty()) {
      throw new ToolException(
          ExitCode.NO_PROVIDER, "no provider works here; 'ferrule doctor' says why");
    }
    return working;
  }

  private Set<String> chosen(Set<String> ids) {
    for (String id : only) {
      if (!ids.contains(id)) {
        throw new ParameterException(
            spec.commandLine(),
            "there is no experiment '" + id + "'; there are " + String.join(", ", ids));
      }
    }
    return only.isEmpty() ? ids : new LinkedHashSet<>(only);
  }

  private void print(List<Experiment> experiments, Set<String> chosen) {
    PrintWriter output = spec.commandLine().getOut();
    for (Experiment experiment : experiments) {
      if (chosen.contains(experiment.id())) {
        output.printf(
            "%-10s  %-15s  %s%n",
            experiment.provider(),
            experiment.id(),
            experiment.obstacle().map(reason -> "not here: " + reason).orElse(experiment.title()));
      }
    }
  }
}
