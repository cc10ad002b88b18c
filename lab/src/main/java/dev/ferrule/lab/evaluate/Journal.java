// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonPrimitive;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A file with one line of JSON for each round of each task, from which an interrupted evaluation
 * continues. The first line has the settings; a line for each start or continuation describes the
 * machine. An incomplete last line is dropped.
 */
final class Journal implements AutoCloseable {

  private static final String SETTINGS = "settings";
  private static final String MACHINE = "machine";
  private static final String TASK = "task";
  private static final String ROUND = "round";
  private static final String RESULT = "result";
  private static final String FAILED = "failed";
  private static final String AT = "at";
  private static final Gson LINE = new Gson();

  private final Path file;
  private final FileChannel channel;
  private final Records records = new Records();

  private Journal(Path file, FileChannel channel) {
    this.file = file;
    this.channel = channel;
  }

  /**
   * Opens a journal, or creates one. Fails if the file has points of other settings, is not a
   * journal, or is in use.
   */
  static Journal open(Path file, JsonObject settings) {
    @Nullable FileChannel channel = null;
    try {
      channel =
          FileChannel.open(
              file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
      if (!lock(channel)) {
        throw new ToolException(
            ExitCode.FAILED, file + ": in use by another 'ferrule evaluate'; wait until it ends");
      }
      Journal journal = new Journal(file, channel);
      journal.load(settings);
      return journal;
    } catch (IOException e) {
      close(channel);
      throw new ToolException(
          ExitCode.FAILED, "cannot open the journal " + file + ": " + e.getMessage(), e);
    } catch (RuntimeException e) {
      close(channel);
      throw e;
    }
  }

  private static boolean lock(FileChannel channel) throws IOException {
    try {
      return channel.tryLock() != null; // released with the channel
    } catch (OverlappingFileLockException e) {
      return false;
    }
  }

  private static void close(@Nullable FileChannel channel) {
    try {
      if (channel != null) {
        channel.close();
      }
    } catch (IOException e) {
      // every line written is already in the file
    }
  }

  private void load(JsonObject settings) throws IOException {
    byte[] bytes = Channels.newInputStream(channel).readAllBytes();
    int whole = bytes.length;
    while (whole > 0 && bytes[whole - 1] != '\n') {
      whole--;
    }
    List<String> lines = new String(bytes, 0, whole, StandardCharsets.UTF_8).lines().toList();
    if (!lines.isEmpty()) {
      compare(parse(lines.get(0), 1).get(SETTINGS), settings);
    } else if (bytes.length > 0 && bytes[0] != '{') {
      throw invalid(1);
    }
    for (int i = 1; i < lines.size(); i++) {
      take(parse(lines.get(i), i + 1), i + 1);
    }
    channel.truncate(whole);
    channel.position(whole);
    if (lines.isEmpty()) {
      JsonObject first = new JsonObject();
      first.add(SETTINGS, settings);
      append(first);
    }
  }

  private JsonObject parse(String line, int number) {
    try {
      JsonObject object = LINE.fromJson(line, JsonObject.class);
      if (object != null) {
        return object;
      }
    } catch (JsonParseException e) {
      // handled like a line of another kind
    }
    throw invalid(number);
  }

  private ToolException invalid(int number) {
    return new ToolException(
        ExitCode.FAILED,
        "%s: line %s is not from an evaluation; remove that line, or choose another folder"
            .formatted(file, number));
  }

  private void compare(@Nullable JsonElement before, JsonObject now) {
    if (!(before instanceof JsonObject then)) {
      throw invalid(1);
    }
    TreeSet<String> names = new TreeSet<>(then.keySet());
    names.addAll(now.keySet());
    String differences =
        names.stream()
            .filter(name -> !Objects.equals(then.get(name), now.get(name)))
            .map(name -> name + " was " + text(then.get(name)) + " and is " + text(now.get(name)))
            .collect(Collectors.joining("; "));
    if (!differences.isEmpty()) {
      throw new ToolException(
          ExitCode.USAGE,
          ("%s contains an evaluation with other settings: %s; continue with the same settings, or"
                  + " choose another folder")
              .formatted(file.toAbsolutePath().getParent(), differences));
    }
  }

  private static String text(JsonElement value) {
    return value == null ? "not set" : LINE.toJson(value);
  }

  private void take(JsonObject line, int number) {
    if (line.get(MACHINE) instanceof JsonObject machine) {
      records.start(machine);
      return;
    }
    if (!(line.get(TASK) instanceof JsonObject task)) {
      throw invalid(number);
    }
    if (line.get(RESULT) instanceof JsonObject result
        && line.get(ROUND) instanceof JsonPrimitive round
        && round.isNumber()
        && round.getAsDouble() >= 1
        && round.getAsDouble() == round.getAsInt()) {
      records.add(task, round.getAsInt(), result);
    } else if (line.get(FAILED) instanceof JsonPrimitive reason) {
      records.fail(task, reason.getAsString());
    } else {
      throw invalid(number);
    }
  }

  /** Returns the records, to which each measurement is added. */
  Records records() {
    return records;
  }

  /** Records the state of the machine for the points that follow. */
  void start(JsonObject machine) {
    JsonObject line = new JsonObject();
    line.add(MACHINE, machine);
    append(line);
    records.start(machine);
  }

  void add(Task task, int round, JsonObject result) {
    JsonObject line = line(task, round);
    line.add(RESULT, result);
    append(line);
    records.add(task.description(), round, result);
  }

  void fail(Task task, int round, String reason) {
    JsonObject line = line(task, round);
    line.addProperty(FAILED, reason);
    append(line);
    records.fail(task.description(), reason);
  }

  private static JsonObject line(Task task, int round) {
    JsonObject line = new JsonObject();
    line.add(TASK, task.description());
    line.addProperty(ROUND, round);
    line.addProperty(AT, Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
    return line;
  }

  private void append(JsonObject line) {
    ByteBuffer bytes = ByteBuffer.wrap((LINE.toJson(line) + '\n').getBytes(StandardCharsets.UTF_8));
    try {
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(false);
    } catch (IOException e) {
      throw new ToolException(
          ExitCode.FAILED, "cannot write to " + file + ": " + e.getMessage(), e);
    }
  }

  @Override
  public void close() {
    close(channel);
  }
}
