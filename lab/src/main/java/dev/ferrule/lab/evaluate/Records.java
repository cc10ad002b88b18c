// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import dev.ferrule.tools.bench.Medians;
import java.util.ArrayList;
import java.util.Collection;
import java.util.DoubleSummaryStatistics;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** All measurements: for each task, the figures of each round. */
public final class Records {

  private static final String EXPERIMENT = "experiment";
  private static final String PROVIDER = "provider";

  private final Map<String, Entry> entries = new LinkedHashMap<>();
  private final List<JsonObject> starts = new ArrayList<>();
  private final Map<String, Placement> placements = new HashMap<>(); // of the rounds in the entries

  /** The results of one task. */
  private static final class Entry {
    private final JsonObject description;
    private final TreeMap<Integer, JsonObject> rounds = new TreeMap<>();
    private @Nullable String failure;
    private int failures;

    private Entry(JsonObject description) {
      this.description = description;
    }
  }

  /** Creates empty records. */
  public Records() {}

  /**
   * Returns the entry of a task, keyed by the text of its description: in Gson, a parsed number
   * does not equal the number written.
   */
  private Entry entry(JsonObject description) {
    return entries.computeIfAbsent(description.toString(), text -> new Entry(description));
  }

  private Optional<Entry> find(Task task) {
    return Optional.ofNullable(entries.get(task.description().toString()));
  }

  private Collection<JsonObject> results(Task task) {
    return find(task).map(entry -> entry.rounds.values()).orElse(List.of());
  }

  void add(JsonObject description, int round, JsonObject result) {
    Entry entry = entry(description);
    entry.rounds.put(round, result);
    entry.failure = null;
    placements.clear();
  }

  void fail(JsonObject description, String reason) {
    Entry entry = entry(description);
    entry.failure = reason;
    entry.failures++;
  }

  /** Returns the placement of the processors in the rounds of a task's experiment. */
  Placement placement(Task task) {
    return placements.computeIfAbsent(
        group(task.description()),
        wanted ->
            new Placement(
                entries.values().stream()
                    .filter(entry -> group(entry.description).equals(wanted))
                    .flatMap(entry -> entry.rounds.values().stream())
                    .toList()));
  }

  private static String group(JsonObject description) {
    return description.get(PROVIDER) + " " + description.get(EXPERIMENT);
  }

  /** Returns the placement of the processors in the rounds of some tasks. */
  Placement placement(Collection<Task> tasks) {
    return new Placement(tasks.stream().flatMap(task -> results(task).stream()).toList());
  }

  /** Returns whether any round of a task was measured in the given placement. */
  boolean isAt(Placement place, Task task) {
    return results(task).stream().anyMatch(place::isUsual);
  }

  /** Returns the rounds that count: those in the experiment's usual placement, if there are any. */
  private List<JsonObject> counting(Task task) {
    return placement(task).counting(results(task));
  }

  /**
   * Returns a cache line's latency between the processors during a task's rounds; empty if it was
   * not measured.
   */
  Optional<Double> lineNanos(Task task) {
    return Placement.lineNanos(counting(task));
  }

  /** Returns whether a task was measured in any round. */
  boolean isMeasured(Task task) {
    return !results(task).isEmpty();
  }

  /** Returns whether a task was measured in a round. */
  boolean has(Task task, int round) {
    return find(task).filter(entry -> entry.rounds.containsKey(round)).isPresent();
  }

  /** Returns why a task could not be measured; empty if it was, or was not tried yet. */
  public Optional<String> failure(Task task) {
    return find(task).flatMap(entry -> Optional.ofNullable(entry.failure));
  }

  /** Returns how often a task failed, even if it succeeded later. */
  int failures(Task task) {
    return find(task).map(entry -> entry.failures).orElse(0);
  }

  static OptionalDouble number(JsonObject result, String metric) {
    return result.get(metric) instanceof JsonPrimitive value && value.isNumber()
        ? OptionalDouble.of(value.getAsDouble())
        : OptionalDouble.empty();
  }

  /** Returns the number of the last round of any task. */
  public int rounds() {
    return entries.values().stream()
        .filter(entry -> !entry.rounds.isEmpty())
        .mapToInt(entry -> entry.rounds.lastKey())
        .max()
        .orElse(0);
  }

  /** Returns the values of a metric in the rounds that count and have it. */
  public List<Double> values(Task task, String metric) {
    return values(counting(task), metric);
  }

  /** Returns the values of a metric in the rounds of a placement. */
  List<Double> values(Task task, String metric, Placement place) {
    return values(results(task).stream().filter(place::isUsual).toList(), metric);
  }

  private static List<Double> values(List<JsonObject> results, String metric) {
    return results.stream()
        .map(result -> number(result, metric))
        .filter(OptionalDouble::isPresent)
        .map(OptionalDouble::getAsDouble)
        .toList();
  }

  /**
   * Returns the values of a metric in the rounds that count and have it; a quotient is calculated
   * for each round.
   */
  List<Double> values(Task task, Metric metric) {
    if (metric.divisor().isEmpty()) {
      return values(task, metric.name());
    }
    List<Double> quotients = new ArrayList<>();
    for (JsonObject result : counting(task)) {
      Medians.ratio(number(result, metric.name()), number(result, metric.divisor().get()))
          .ifPresent(quotients::add);
    }
    return quotients;
  }

  /**
   * Returns the median of a metric over the rounds that count; of a quotient, that of the two
   * medians.
   */
  OptionalDouble median(Task task, Metric metric) {
    OptionalDouble median = median(task, metric.name());
    return metric.divisor().isEmpty()
        ? median
        : Medians.ratio(median, median(task, metric.divisor().get()));
  }

  /**
   * Returns the quotient of the medians of two tasks; empty if either was not measured, or only in
   * another placement than most rounds of the experiment.
   */
  public OptionalDouble ratio(Task dividend, Task divisor, String metric) {
    return isAt(placement(dividend), dividend) && isAt(placement(divisor), divisor)
        ? Medians.ratio(median(dividend, metric), median(divisor, metric))
        : OptionalDouble.empty();
  }

  /** Returns the median of a metric over the rounds that count; empty if none has it. */
  public OptionalDouble median(Task task, String metric) {
    return Medians.of(values(task, metric));
  }

  /**
   * Returns the ratio of the maximum of the rounds to the minimum; empty for fewer than two rounds.
   */
  public OptionalDouble spread(Task task, Metric metric) {
    DoubleSummaryStatistics values =
        values(task, metric).stream().collect(Collectors.summarizingDouble(value -> value));
    return values.getCount() < 2 || values.getMin() <= 0
        ? OptionalDouble.empty()
        : OptionalDouble.of(values.getMax() / values.getMin());
  }

  void start(JsonObject machine) {
    starts.add(machine);
  }

  /** Returns the state of the machine at each start or continuation. */
  List<JsonObject> starts() {
    return List.copyOf(starts);
  }

  /** Returns the ids of all experiments with a measured or failed point. */
  Set<String> experiments() {
    return entries.values().stream()
        .map(entry -> entry.description.get(EXPERIMENT))
        .filter(JsonPrimitive.class::isInstance)
        .map(JsonElement::getAsString)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  void forEach(BiConsumer<JsonObject, Map<Integer, JsonObject>> action) {
    entries.values().forEach(entry -> action.accept(entry.description, entry.rounds));
  }
}
