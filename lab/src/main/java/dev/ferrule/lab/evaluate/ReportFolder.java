// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import dev.ferrule.lab.model.FitResult;
import dev.ferrule.lab.model.ParameterFile;
import dev.ferrule.lab.report.Csv;
import dev.ferrule.lab.report.HtmlReport;
import dev.ferrule.lab.report.Section;
import dev.ferrule.lab.report.Table;
import dev.ferrule.tools.report.Plot;
import dev.ferrule.tools.report.SvgPlot;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Json;
import dev.ferrule.tools.support.OutputFile;
import dev.ferrule.tools.support.Problems;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** The files of an evaluation: the report, its plots, and the results for programs. */
final class ReportFolder {

  private static final String REPORT = "report.html";
  private static final String PLOTS = "plots";
  private static final String PARAMETERS = "params.json";

  private final Path folder;

  ReportFolder(Path folder) {
    this.folder = folder;
  }

  Path journal() {
    return folder.resolve("journal.jsonl");
  }

  Path report() {
    return folder.resolve(REPORT);
  }

  /** Creates the folder, so that an invalid name is reported before anything is measured. */
  void prepare() {
    if (Files.exists(folder) && !Files.isDirectory(folder)) {
      throw new ToolException(
          ExitCode.USAGE, folder + " is a file, not a folder; choose another with --out");
    }
    try {
      Files.createDirectories(folder.resolve(PLOTS));
    } catch (IOException e) {
      throw new ToolException(
          ExitCode.FAILED,
          "cannot create the folder " + folder + ": " + e + "; choose another with --out",
          e);
    }
  }

  /**
   * Writes all files anew; the report shows the number of measurements still to be made, unless it
   * is 0.
   */
  void write(
      List<Experiment> experiments,
      Records records,
      List<ProviderModel> models,
      JsonObject machine,
      long left) {
    Map<String, FitResult> fits =
        models.stream().collect(Collectors.toMap(ProviderModel::provider, ProviderModel::fit));
    List<Section> sections = new ArrayList<>();
    for (Experiment experiment : experiments) {
      if (experiment.leftOut(records).isEmpty()) {
        sections.add(experiment.section(records, fits));
      }
    }
    models.forEach(model -> sections.add(model.section(left == 0)));
    leftOut(experiments, records).ifPresent(sections::add);
    sections.add(machineSection(machine, records));
    sections.add(filesSection(!models.isEmpty()));
    String subtitle =
        (left > 0 ? "partial, " + Headlines.toGo(left) + "; " : "")
            + fact(machine, Machine.FERRULE)
            + ", "
            + fact(machine, Machine.BEGAN);
    put(
        REPORT,
        HtmlReport.format(
            "Ferrule evaluation",
            subtitle,
            Headlines.of(experiments, records, machine, left),
            sections));
    Set<String> drawn = new HashSet<>();
    for (Section section : sections) {
      for (Plot plot : section.plots()) {
        String name = PLOTS + "/" + plot.name() + ".svg";
        put(name, SvgPlot.file(plot));
        drawn.add(name);
      }
    }
    for (Experiment experiment : experiments) { // plots of an earlier run
      String name = PLOTS + "/" + experiment.provider() + "-" + experiment.id() + ".svg";
      if (!drawn.contains(name)) {
        remove(name);
      }
    }
    put("results.csv", csv(records));
    put("results.json", json(records, machine));
    if (models.isEmpty()) {
      remove(PARAMETERS);
    } else {
      put(PARAMETERS, ParameterFile.format(models.stream().map(ProviderModel::entry).toList()));
    }
  }

  /** Returns a section with all experiments without results, one line for each reason. */
  private static Optional<Section> leftOut(List<Experiment> experiments, Records records) {
    Map<String, List<String>> byReason = new LinkedHashMap<>();
    for (Experiment experiment : experiments) {
      experiment
          .leftOut(records)
          .ifPresent(reason ->
              byReason
                  .computeIfAbsent(reason, ignored -> new ArrayList<>())
                  .add(experiment.provider() + " " + experiment.id()));
    }
    if (byReason.isEmpty()) {
      return Optional.empty();
    }
    Table table = new Table("", List.of("experiments", "reason"));
    byReason.forEach((reason, names) -> table.row(List.of(String.join(", ", names), reason)));
    return Optional.of(new Section("left-out", "Not measured", "", table));
  }

  private static Section machineSection(JsonObject machine, Records records) {
    boolean two = machine.get(Machine.SERVERS) instanceof JsonObject;
    List<Table> tables = new ArrayList<>();
    tables.add(facts(two ? "The host that measures" : "", machine));
    if (machine.get(Machine.SERVERS) instanceof JsonObject other) {
      tables.add(facts("The host of the servers", other));
    }
    Table starts = new Table("Measured from", List.of(Machine.BEGAN, Machine.LOAD));
    for (JsonObject start : records.starts()) {
      starts.row(List.of(fact(start, Machine.BEGAN), fact(start, Machine.LOAD)));
    }
    if (starts.rows().size() > 1) {
      tables.add(starts);
    }
    return new Section(
        "machine",
        two ? "The machines" : "The machine",
        "The figures hold for "
            + (two ? "these machines in this state" : "this machine in this state")
            + "; on another machine, or under load, they differ by factors.",
        tables.toArray(Table[]::new));
  }

  private static Table facts(String title, JsonObject machine) {
    Table facts = new Table(title, List.of("fact", "value"));
    machine.asMap().entrySet().stream()
        .filter(fact -> fact.getValue().isJsonPrimitive())
        .forEach(fact -> facts.row(List.of(fact.getKey(), fact.getValue().getAsString())));
    return facts;
  }

  private static String fact(JsonObject machine, String name) {
    return machine.get(name) instanceof JsonPrimitive value ? value.getAsString() : "–";
  }

  private static Section filesSection(boolean modelled) {
    Table table = new Table("", List.of("file", "contents"));
    table.row(List.of("plots/", "the plots of this page, as SVG"));
    table.row(List.of("results.csv, results.json", "each round of each point, machine-readable"));
    if (modelled) {
      table.row(
          List.of(PARAMETERS, "the models' parameters, for 'ferrule model --params params.json'"));
    }
    table.row(List.of("journal.jsonl", "the raw measurements; needed to continue the evaluation"));
    return new Section(
        "files",
        "Files in this folder",
        "Each value on this page is the median of its rounds, or of those measured in the usual"
            + " placement of the processors; beside it is their spread, the maximum over the"
            + " minimum.",
        table);
  }

  private static String csv(Records records) {
    List<Map<String, String>> rows = new ArrayList<>();
    records.forEach((task, rounds) ->
        rounds.forEach((round, result) -> {
          Map<String, String> row = new LinkedHashMap<>();
          task.asMap().forEach((name, value) -> row.put(name, cell(value)));
          row.put("round", String.valueOf(round));
          result.asMap().forEach((name, value) -> row.put(name, cell(value)));
          rows.add(row);
        }));
    return Csv.format(rows);
  }

  private static String cell(JsonElement value) {
    return value.isJsonPrimitive() ? value.getAsString() : value.toString();
  }

  private static String json(Records records, JsonObject machine) {
    JsonArray results = new JsonArray();
    records.forEach((task, rounds) ->
        rounds.forEach((round, result) -> {
          JsonObject object = task.deepCopy();
          object.addProperty("round", round);
          object.add("result", result);
          results.add(object);
        }));
    JsonObject file = new JsonObject();
    file.add("machine", machine);
    JsonArray starts = new JsonArray();
    records.starts().forEach(starts::add);
    file.add("starts", starts);
    file.add("results", results);
    return Json.format(file);
  }

  private void remove(String name) {
    try {
      Files.deleteIfExists(folder.resolve(name));
    } catch (IOException e) {
      throw new ToolException(
          ExitCode.FAILED, "cannot delete " + folder.resolve(name) + ": " + Problems.reason(e), e);
    }
  }

  /** Replaces a file atomically, so that readers never see a partial one. */
  private void put(String name, String text) {
    Path file = folder.resolve(name);
    Path whole = folder.resolve(name + ".new");
    try {
      Files.writeString(whole, text);
      Files.move(whole, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw OutputFile.failure(file, e);
    }
  }
}
