// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import static java.util.concurrent.TimeUnit.SECONDS;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Guarded;
import dev.ferrule.tools.support.Problems;
import dev.ferrule.tools.support.StepProgress;
import dev.ferrule.tools.support.ToolException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

/**
 * Runs experiments one after the other, and writes the report before and after each, and when a
 * signal ends the process. Within an experiment each round measures all points once, so that
 * disturbances affect all of them alike. Each round of each point is appended to the journal
 * immediately; an interrupted evaluation continues from it.
 */
public final class Evaluation {

  /** How long a signal waits for the report. */
  private static final long PATIENCE_SECONDS = 10;

  private final ReportFolder folder;
  private final Effort effort;
  private final List<String> providers;
  private final Set<String> acknowledged;
  private final List<Experiment> all;
  private final Machine machine;
  private JsonObject begun = new JsonObject(); // the facts of the hosts
  private boolean started; // whether the journal has a point of this run

  /**
   * Creates an evaluation. {@code all} are the experiments of the report, which also shows the
   * measured version. The messages of {@code acknowledged} providers are complete only when
   * acknowledged.
   */
  public Evaluation(
      Path folder,
      Effort effort,
      List<String> providers,
      Set<String> acknowledged,
      List<Experiment> all,
      String version) {
    this.folder = new ReportFolder(folder);
    this.effort = effort;
    this.providers = List.copyOf(providers);
    this.acknowledged = Set.copyOf(acknowledged);
    this.all = List.copyOf(all);
    this.machine = Machine.look(version);
  }

  /** Returns the settings that must be equal in all runs whose points go into one report. */
  private JsonObject settings(Servers servers) {
    JsonObject settings = new JsonObject();
    JsonArray names = new JsonArray();
    providers.stream().sorted().forEach(names::add);
    settings.add("provider", names);
    settings.addProperty("quick", effort.quick());
    settings.addProperty("rounds", effort.rounds());
    effort.messages().ifPresent(messages -> settings.addProperty("messages", messages));
    Machine.identity(machine.json()).asMap().forEach(settings::add);
    servers.machine().ifPresent(other -> settings.add(Machine.SERVERS, Machine.identity(other)));
    return settings;
  }

  /** Returns the facts of this host, and those of the servers' host if it is another. */
  private JsonObject machines(Servers servers) {
    JsonObject facts = machine.json();
    servers.machine().ifPresent(other -> facts.add(Machine.SERVERS, other));
    return facts;
  }

  /**
   * Measures the rounds of the chosen experiments that the journal does not contain yet; other
   * experiments are only shown. {@code problems} receives one line for each failed point, which
   * does not end the evaluation, and, without a terminal, one for each completed measurement.
   */
  public Outcome run(Set<String> chosen, Servers servers, Consumer<String> problems) {
    this.begun = machines(servers);
    folder.prepare();
    try (Journal journal = Journal.open(folder.journal(), settings(servers))) {
      checkKnown(journal.records());
      List<Experiment> wanted =
          all.stream()
              .filter(experiment -> chosen.contains(experiment.id()))
              .filter(experiment -> experiment.obstacle().isEmpty())
              .toList();
      // while more is measured, the report keeps the models that it has
      Set<String> modelled = journal.records().rounds() > 0 ? Set.copyOf(providers) : Set.of();
      CountDownLatch written = new CountDownLatch(1);
      try (Guarded<AutoCloseable> _ = Guarded.of(awaitedByOtherThreads(written))) {
        try {
          run(wanted, modelled, journal, servers, problems);
          write(journal.records(), new LinkedHashSet<>(providers), 0);
        } catch (ToolException e) { // a signal, or the servers' host is lost
          writeAfter(e, journal.records(), modelled, left(tasks(wanted), journal));
          throw e;
        } finally {
          written.countDown();
        }
      }
      return new Outcome(folder.report(), failures(wanted, journal.records()));
    }
  }

  /**
   * Returns a resource whose close waits for the latch, as after a signal, when another thread
   * closes it. This thread does not wait for itself.
   */
  private static AutoCloseable awaitedByOtherThreads(CountDownLatch latch) {
    Thread own = Thread.currentThread();
    return () -> {
      if (Thread.currentThread() != own) {
        boolean ignored = latch.await(PATIENCE_SECONDS, SECONDS);
      }
    };
  }

  private void writeAfter(ToolException failure, Records records, Set<String> modelled, long left) {
    try {
      write(records, modelled, left);
    } catch (ToolException e) {
      failure.addSuppressed(e);
    }
  }

  private void run(
      List<Experiment> wanted,
      Set<String> modelled,
      Journal journal,
      Servers servers,
      Consumer<String> problems) {
    Set<Task> tasks = tasks(wanted);
    long total = (long) tasks.size() * effort.rounds();
    long left = left(tasks, journal);
    try (StepProgress progress = StepProgress.of("evaluate", total, total - left, problems);
        Guarded<Workbench> bench = Guarded.of(new Workbench(effort, servers, problems))) {
      if (left > 0) {
        write(journal.records(), modelled, left);
      }
      Set<Task> failed = new HashSet<>(); // these are not retried in this run
      for (Experiment experiment : wanted) {
        tasks.removeAll(experiment.tasks());
        if (left(experiment.tasks(), journal) > 0) {
          run(experiment, journal, bench.get(), servers, progress, failed, problems);
          bench.get().closeResources();
          write(journal.records(), modelled, left(tasks, journal));
        }
      }
    }
  }

  /**
   * The outcome of an evaluation.
   *
   * @param failures a line for each experiment that has no figure, or has not passed
   */
  public record Outcome(Path report, List<String> failures) {}

  /**
   * Checks that all experiments of the folder are known: the report is rewritten as a whole, and
   * must not lose any.
   */
  private void checkKnown(Records records) {
    Set<String> known = new HashSet<>();
    all.forEach(experiment -> known.add(experiment.id()));
    Set<String> unknown = records.experiments();
    unknown.removeAll(known);
    if (!unknown.isEmpty()) {
      throw new ToolException(
          ExitCode.USAGE,
          folder.report().toAbsolutePath().getParent()
              + " has results of experiments that this command does not know: "
              + String.join(", ", unknown)
              + "; add --peers, or choose another folder");
    }
  }

  private static List<String> failures(List<Experiment> wanted, Records records) {
    List<String> failures = new ArrayList<>();
    for (Experiment experiment : wanted) {
      String name = experiment.provider() + " " + experiment.id();
      if (experiment.tasks().stream().noneMatch(task -> records.has(task, 1))) {
        failures.add(name + ": no point could be measured");
      }
      if (experiment.tasks().stream()
          .flatMap(task -> records.values(task, Catalogue.RNR).stream())
          .anyMatch(count -> count > 0)) {
        failures.add(name + ": messages found no receive posted (RNR)");
      }
      if (experiment.id().equals(Catalogue.RNR_EXPERIMENT)) {
        experiment.tasks().stream()
            .filter(task -> records.failures(task) > 0)
            .forEach(task -> failures.add(name + ": " + failed(task, records)));
      }
    }
    return failures;
  }

  private static String failed(Task task, Records records) {
    return "a point failed "
        + records.failures(task)
        + " times: "
        + records.failure(task).orElse("it succeeded later, but must not fail at all");
  }

  /** Returns the tasks of experiments; two experiments may show the same task. */
  private static Set<Task> tasks(List<Experiment> experiments) {
    Set<Task> tasks = new HashSet<>();
    experiments.forEach(experiment -> tasks.addAll(experiment.tasks()));
    return tasks;
  }

  private long left(Collection<Task> tasks, Journal journal) {
    long left = 0;
    for (Task task : tasks) {
      for (int round = 1; round <= effort.rounds(); round++) {
        left += journal.records().has(task, round) ? 0 : 1;
      }
    }
    return left;
  }

  /** Writes the report, with the number of measurements still missing in this run. */
  private void write(Records records, Set<String> modelled, long left) {
    List<JsonObject> starts = records.starts();
    JsonObject measured = starts.isEmpty() ? begun : starts.get(starts.size() - 1);
    List<ProviderModel> models =
        modelled.stream()
            .flatMap(provider ->
                ProviderModel.of(provider, all, records, acknowledged.contains(provider)).stream())
            .toList();
    folder.write(all, records, models, measured, left);
  }

  private void run(
      Experiment experiment,
      Journal journal,
      Workbench bench,
      Servers servers,
      StepProgress progress,
      Set<Task> failedBefore,
      Consumer<String> problems) {
    String name = experiment.provider() + " " + experiment.id();
    Set<Task> failed = new HashSet<>();
    Set<String> reported = new HashSet<>(); // each reason once; the report lists the points
    for (int round = 1; round <= effort.rounds(); round++) {
      for (Task task : experiment.tasks()) {
        if (failedBefore.contains(task) || journal.records().has(task, round)) {
          continue;
        }
        progress.begin(name);
        if (!failed.contains(task) && !measure(task, round, journal, bench, servers)) {
          failed.add(task);
          String reason = journal.records().failure(task).orElse("failed");
          if (reported.add(reason)) {
            problems.accept(name + ": " + reason);
          }
        }
        progress.finish();
      }
    }
    failedBefore.addAll(failed);
  }

  /** Measures a point; returns false if it failed, which does not end the experiment. */
  private boolean measure(Task task, int round, Journal journal, Workbench bench, Servers servers) {
    JsonObject result;
    try {
      result = task.run(bench);
    } catch (RuntimeException e) {
      if (Guarded.exiting()) {
        throw new ToolException(ExitCode.FAILED, "interrupted", e);
      }
      if (servers.lost().isPresent()) { // not a failure of the point
        throw new ToolException(ExitCode.CONNECTION_LOST, servers.lost().get(), e);
      }
      String reason = String.valueOf(e.getMessage() == null ? e : e.getMessage());
      journal.fail(task, round, Problems.withoutAddresses(reason));
      return false;
    }
    if (!started) {
      journal.start(begun);
      started = true;
    }
    journal.add(task, round, result);
    return true;
  }
}
