// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.evaluate;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** What was measured: for each task, the figures of each round. */
public final class Records {

  private static final String EXPERIMENT = "experiment";

  private final Map<String, Entry> entries = new LinkedHashMap<>();
  private final List<JsonObject> starts = new ArrayList<>();
  private @Nullable Placement placement; // of what is in the entries

  /** What is known of one task. */
  private static final class Entry {
    private final JsonObject description;
    private final TreeMap<Integer, JsonObject> rounds = new TreeMap<>();
    private @Nullable String failure;
    private int failures;

    private Entry(JsonObject description) {
      this.description = description;
    }
  }

  /** Creates records of nothing. */
  public Records() {}

  /** By its text, since a number that was read is not the number that was written, to Gson. */
  private Entry entry(JsonObject description) {
    return entries.computeIfAbsent(description.toString(), text -> new Entry(description));
  }

  private Collection<JsonObject> results(Task task) {
    Entry entry = entries.get(task.description().toString());
    return entry == null ? List.of() : entry.rounds.values();
  }

  void add(JsonObject description, int round, JsonObject result) {
    Entry entry = entry(description);
    entry.rounds.put(round, result);
    entry.failure = null;
    placement = null;
  }

  /** Where the processors were. */
  Placement placement() {
    Placement known = placement;
    if (known == null) {
      known =
          new Placement(
              entries.values().stream().flatMap(entry -> entry.rounds.values().stream()).toList());
      placement = known;
    }
    return known;
  }

  /** Tells whether any round of a task was measured where most of all tasks were. */
  boolean isUsual(Task task) {
    return results(task).stream().anyMatch(placement()::isUsual);
  }

  /** The rounds that count: those measured in the usual place, unless there are none. */
  private List<JsonObject> counting(Task task) {
    List<JsonObject> usual = results(task).stream().filter(placement()::isUsual).toList();
    return usual.isEmpty() ? List.copyOf(results(task)) : usual;
  }

  /** How long a cache line took between the processors meanwhile; empty if nobody looked. */
  OptionalDouble lineNanos(Task task) {
    return counting(task).stream()
        .map(Placement::lineNanos)
        .filter(OptionalDouble::isPresent)
        .mapToDouble(OptionalDouble::getAsDouble)
        .average();
  }

  void fail(JsonObject description, String reason) {
    Entry entry = entry(description);
    entry.failure = reason;
    entry.failures++;
  }

  /** Tells whether a task was measured in a round. */
  boolean has(Task task, int round) {
    Entry entry = entries.get(task.description().toString());
    return entry != null && entry.rounds.containsKey(round);
  }

  /**
   * Tells why a task could not be measured.
   *
   * @param task which
   * @return the reason; empty if it was measured, or not tried yet
   */
  public Optional<String> failure(Task task) {
    Entry entry = entries.get(task.description().toString());
    return entry == null ? Optional.empty() : Optional.ofNullable(entry.failure);
  }

  /** How often a task failed, be it that it succeeded later. */
  int failures(Task task) {
    Entry entry = entries.get(task.description().toString());
    return entry == null ? 0 : entry.failures;
  }

  /**
   * Returns a figure of a task in one round.
   *
   * @param task which
   * @param round which round
   * @param figure its name
   * @return the value; empty if that was not measured
   */
  public OptionalDouble value(Task task, int round, String figure) {
    Entry entry = entries.get(task.description().toString());
    JsonObject result = entry == null ? null : entry.rounds.get(round);
    JsonElement value = result == null ? null : result.get(figure);
    return value != null && value.isJsonPrimitive() && value.getAsJsonPrimitive().isNumber()
        ? OptionalDouble.of(value.getAsDouble())
        : OptionalDouble.empty();
  }

  /**
   * Returns how many rounds there are of any task.
   *
   * @return the number of the last round
   */
  public int rounds() {
    return entries.values().stream()
        .filter(entry -> !entry.rounds.isEmpty())
        .mapToInt(entry -> entry.rounds.lastKey())
        .max()
        .orElse(0);
  }

  /**
   * Returns a figure of a task in each round that counts.
   *
   * @param task which
   * @param figure its name
   * @return the values of the rounds that have it; without those measured while the processors were
   *     somewhere else than usual, if there are others
   */
  public List<Double> values(Task task, String figure) {
    List<Double> values = new ArrayList<>();
    for (JsonObject result : counting(task)) {
      JsonElement value = result.get(figure);
      if (value != null && value.isJsonPrimitive() && value.getAsJsonPrimitive().isNumber()) {
        values.add(value.getAsDouble());
      }
    }
    return values;
  }

  /**
   * Returns the median of a figure over the rounds.
   *
   * @param task which
   * @param figure its name
   * @return the median; empty if no round has it
   */
  public OptionalDouble median(Task task, String figure) {
    double[] sorted =
        values(task, figure).stream().mapToDouble(Double::doubleValue).sorted().toArray();
    return sorted.length == 0
        ? OptionalDouble.empty()
        : OptionalDouble.of((sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2);
  }

  /**
   * Returns how far the rounds are apart.
   *
   * @param task which
   * @param figure its name
   * @return the greatest over the least; empty for fewer than two rounds
   */
  public OptionalDouble spread(Task task, String figure) {
    double[] values = values(task, figure).stream().mapToDouble(Double::doubleValue).toArray();
    double least = Arrays.stream(values).min().orElse(0);
    return values.length < 2 || least <= 0
        ? OptionalDouble.empty()
        : OptionalDouble.of(Arrays.stream(values).max().orElse(0) / least);
  }

  void start(JsonObject machine) {
    starts.add(machine);
  }

  /** What the machine was like each time that measuring began, or went on. */
  List<JsonObject> starts() {
    return List.copyOf(starts);
  }

  /** Returns the ids of all experiments of which anything was tried. */
  Set<String> experiments() {
    Set<String> ids = new TreeSet<>();
    for (Entry entry : entries.values()) {
      JsonElement id = entry.description.get(EXPERIMENT);
      if (id != null && id.isJsonPrimitive()) {
        ids.add(id.getAsString());
      }
    }
    return ids;
  }

  /** Goes through all that was measured. */
  void forEach(BiConsumer<JsonObject, Map<Integer, JsonObject>> action) {
    entries.values().forEach(entry -> action.accept(entry.description, entry.rounds));
  }
}
