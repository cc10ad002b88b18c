// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab;

import dev.ferrule.Ferrule;
import dev.ferrule.ProviderInfo;
import dev.ferrule.lab.compare.PeerExperiments;
import dev.ferrule.lab.evaluate.Catalogue;
import dev.ferrule.lab.evaluate.Effort;
import dev.ferrule.lab.evaluate.Evaluation;
import dev.ferrule.lab.evaluate.Experiment;
import dev.ferrule.lab.evaluate.Servers;
import dev.ferrule.lab.model.Processors;
import dev.ferrule.lab.remote.RemoteServers;
import dev.ferrule.lab.remote.Token;
import dev.ferrule.tools.Subcommand;
import dev.ferrule.tools.TokenOption;
import dev.ferrule.tools.VersionProvider;
import dev.ferrule.tools.bench.FreshAddress;
import dev.ferrule.tools.support.Affinity;
import dev.ferrule.tools.support.ConfiguredAddress;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Guarded;
import dev.ferrule.tools.support.Problems;
import dev.ferrule.tools.support.StatusLine;
import dev.ferrule.tools.support.ToolException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Runs all experiments and writes a report. */
@Command(
    name = "evaluate",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Runs a set of experiments and writes a report as one self-contained HTML page: plots,"
          + " tables, the machine, and how well a performance model explains the results.",
      "Results are saved in the folder as they are measured. After Ctrl-C, the same command"
          + " continues where it stopped; with other settings it fails.",
      "The hypervisor may migrate the processors of a virtual machine. Where that matters, a bare"
          + " cache line is timed before and after each point, and rounds of different placements are not"
          + " mixed; the report states which rounds count.",
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
      "Between two hosts (run the first command on the other one):",
      "  ferrule serve --for-evaluation 10.0.0.2:7470 --token SECRET",
      "  ferrule evaluate --server 10.0.0.2:7470 --token SECRET --out here",
      "",
      "Predictions for more nodes, from the fitted parameters:",
      "  ferrule model --params here/params.json --nodes 64"
    })
public final class EvaluateCommand implements Subcommand {

  private static final int ROUNDS = 5;
  private static final int QUICK_ROUNDS = 3;

  /** The command on the other host may be started at the same time as this one. */
  private static final Duration SERVER_PATIENCE = Duration.ofSeconds(60);

  @Spec private CommandSpec spec;

  @Option(
      names = "--provider",
      split = ",",
      paramLabel = "SCHEME",
      description = "Transports to measure. Default: all that work on this machine.")
  private List<String> schemes = List.of();

  @Option(names = "--quick", description = "Fewer points, shorter rounds, 3 rounds.")
  private boolean quick;

  @Option(
      names = "--out",
      paramLabel = "FOLDER",
      description = "Folder for the report and the results; created if it does not exist.")
  private @Nullable Path out;

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "ID",
      description = "Run only these experiments; the folder's other results stay in the report.")
  private List<String> only = List.of();

  @Option(
      names = "--peers",
      description =
          "Also measure other messaging libraries and transports, interleaved with Ferrule. In a checkout, ./ferrule fetches those libraries.")
  private boolean peers;

  @Option(names = "--list", description = "Only list the experiments.")
  private boolean list;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Number of rounds for each point. Default: 5, or 3 with --quick.")
  private @Nullable Integer rounds;

  @Option(
      names = "--messages",
      paramLabel = "N",
      description = "Messages per point and round. Default: as many as a short time allows.")
  private @Nullable Long messages;

  @Option(
      names = "--host",
      paramLabel = "HOST",
      description =
          "Listen address of the servers that are started, for transports with host addresses."
              + " Default: the address of an RDMA device.")
  private @Nullable String host;

  @Option(
      names = "--server",
      paramLabel = "HOST:PORT",
      description =
          "Measure between this host and another, on which 'ferrule serve --for-evaluation"
              + " HOST:PORT' runs with the same token. The report describes both hosts.")
  private @Nullable String server;

  @Mixin private TokenOption token = new TokenOption();

  /** Called by the service loader. */
  public EvaluateCommand() {}

  @Override
  public Integer call() {
    checkServer();
    List<ProviderInfo> providers = providers();
    int own = Math.max(1, Affinity.allowed().size());
    // the arguments are checked before this command connects to the other host
    Processors assumed =
        server == null ? Processors.ofOneHost(own) : Processors.ofTwoHosts(own, own);
    List<Experiment> experiments = experiments(providers, assumed);
    Set<String> ids = new LinkedHashSet<>();
    experiments.forEach(experiment -> ids.add(experiment.id()));
    Set<String> chosen = chosen(ids);
    if (list) {
      print(experiments, chosen);
      providers.stream()
          .filter(provider -> !provider.availability().available())
          .forEach(provider -> report(doesNotWork(provider)));
      return ExitCode.OK;
    }
    checkMeasurement(providers);
    reportSkipped(experiments, chosen);
    Guarded<AutoCloseable> lastWord = Guarded.of(this::reportInterruption);
    try (Guarded<RemoteServers> remote = server == null ? null : Guarded.of(remote(server))) {
      if (remote != null) {
        experiments = experiments(providers, Processors.ofTwoHosts(own, remote.get().processors()));
      }
      Servers servers =
          remote == null ? Servers.onThisHost(Optional.ofNullable(host)) : remote.get();
      Evaluation.Outcome outcome =
          evaluation(providers, experiments).run(chosen, servers, this::report);
      outcome.failures().forEach(this::report);
      spec.commandLine().getOut().println(outcome.report());
      return outcome.failures().isEmpty() ? ExitCode.OK : ExitCode.FAILED;
    } finally {
      if (!Guarded.exiting()) {
        lastWord.release();
      }
    }
  }

  private List<Experiment> experiments(List<ProviderInfo> providers, Processors processors) {
    List<Experiment> experiments = new ArrayList<>();
    for (ProviderInfo provider : providers) {
      experiments.addAll(new Catalogue(provider, quick, processors).experiments());
      if (peers) {
        experiments.addAll(PeerExperiments.of(provider.scheme(), quick));
      }
    }
    return experiments;
  }

  private void checkServer() {
    if (server == null && token.isSet()) {
      throw usage("--token is for --server");
    }
    if (server != null && (peers || host != null)) {
      throw usage("--peers and --host are for servers on this host, not for --server");
    }
  }

  private ParameterException usage(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  private RemoteServers remote(String address) {
    return RemoteServers.connect(
        TokenOption.address("--server", address),
        new Token(token.required()),
        SERVER_PATIENCE,
        this::report);
  }

  private void checkMeasurement(List<ProviderInfo> providers) {
    if (out == null) {
      throw usage("no folder for the report; set one, such as --out evaluation");
    }
    if (times() < 1 || messages != null && messages < 1) {
      throw usage("--rounds and --messages must be at least 1");
    }
    for (ProviderInfo provider : providers) {
      if (!provider.availability().available()) {
        throw new ToolException(ExitCode.NO_PROVIDER, doesNotWork(provider));
      }
    }
  }

  /** Reports the experiments that {@code --only} names and that are skipped. */
  private void reportSkipped(List<Experiment> experiments, Set<String> chosen) {
    if (only.isEmpty()) {
      return;
    }
    boolean some = false;
    for (Experiment experiment : experiments) {
      if (chosen.contains(experiment.id())) {
        String name = experiment.provider() + " " + experiment.id();
        experiment.obstacle().ifPresent(reason -> report(name + " is skipped: " + reason));
        some |= experiment.obstacle().isEmpty();
      }
    }
    if (!some) {
      throw new ToolException(
          ExitCode.USAGE, "there is nothing to measure; choose other experiments or providers");
    }
  }

  private int times() {
    return rounds != null ? rounds : quick ? QUICK_ROUNDS : ROUNDS;
  }

  private Evaluation evaluation(List<ProviderInfo> providers, List<Experiment> experiments) {
    return new Evaluation(
        Objects.requireNonNull(out),
        new Effort(
            quick, times(), messages == null ? OptionalLong.empty() : OptionalLong.of(messages)),
        providers.stream().map(ProviderInfo::scheme).toList(),
        providers.stream()
            .filter(Catalogue::isAcknowledged)
            .map(ProviderInfo::scheme)
            .collect(Collectors.toSet()),
        experiments,
        "ferrule " + VersionProvider.build());
  }

  private static String doesNotWork(ProviderInfo provider) {
    return provider.scheme() + " is " + provider.availability();
  }

  /** Reports how to continue; the last action when a signal ends the process. */
  private void reportInterruption() {
    report("interrupted; results so far are in " + out + " (the same command continues)");
  }

  private void report(String line) {
    StatusLine.onTerminal().clear();
    Problems.print(spec.commandLine().getErr(), line);
  }

  private List<ProviderInfo> providers() {
    if (!schemes.isEmpty()) {
      List<ProviderInfo> wanted =
          schemes.stream().distinct().map(ConfiguredAddress::requiredProvider).toList();
      wanted.stream()
          .filter(provider -> server != null && FreshAddress.isLocal(provider))
          .findFirst()
          .ifPresent(provider -> {
            throw new ToolException(
                ExitCode.USAGE,
                provider.scheme() + " does not connect hosts; remove it, or --server");
          });
      return wanted;
    }
    List<ProviderInfo> working =
        Ferrule.providers().stream()
            .filter(provider -> server == null || !FreshAddress.isLocal(provider))
            .filter(provider -> list || provider.availability().available())
            .toList();
    if (working.isEmpty()) {
      throw new ToolException(
          ExitCode.NO_PROVIDER, "no provider works on this machine; 'ferrule doctor' reports why");
    }
    return working;
  }

  private Set<String> chosen(Set<String> ids) {
    for (String id : only) {
      if (!ids.contains(id)) {
        throw usage("no experiment '" + id + "'; choose from " + String.join(", ", ids));
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
            experiment.obstacle().map(reason -> "skipped: " + reason).orElse(experiment.title()));
      }
    }
  }
}
