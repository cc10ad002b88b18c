// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.ferrule.lab.model.Estimate;
import dev.ferrule.lab.model.Load;
import dev.ferrule.lab.model.Memory;
import dev.ferrule.lab.model.Parameter;
import dev.ferrule.lab.model.ParameterFile;
import dev.ferrule.lab.model.Prediction;
import dev.ferrule.lab.model.Scenario;
import dev.ferrule.lab.model.SharedMemory;
import dev.ferrule.spi.PlainText;
import dev.ferrule.tools.JsonDocument;
import dev.ferrule.tools.Subcommand;
import dev.ferrule.tools.Values;
import dev.ferrule.tools.report.Numbers;
import dev.ferrule.tools.support.Affinity;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.TextTable;
import dev.ferrule.tools.support.ToolException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongUnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Prints the model's predictions for many nodes. */
@Command(
    name = "model",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Predicts how many messages a node can receive, and how much memory that needs, when many"
          + " nodes send to one (N:1) or to each other (N:N). The parameters are those found"
          + " by 'ferrule evaluate', or written by hand.",
      "The model assumes that the network between the cards is not a bottleneck, and that cards do"
          + " not slow down with many connections: a prediction is an upper bound.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  ferrule model --params here/params.json --nodes 64",
      "  ferrule model --params here/params.json --nodes 256 --size 64 --json"
    })
public final class ModelCommand implements Subcommand {

  private static final int MOST_NODES = 1_000_000;
  private static final int SMALLEST_SHARED_RING = 4 << 10;
  private static final int LARGEST_SHARED_RING = 16 << 20;
  private static final int DEFAULT_SHARED_RING = 1 << 20;
  private static final int MOST_RECEIVES = 16_384;
  private static final int MOST_WINDOW = 4096;
  private static final String SHARED_MEMORY = "sm";
  private static final Set<Parameter> ALONE =
      Set.of(
          Parameter.LATENCY,
          Parameter.BYTE_ALONE); // without effect on streams that are not acknowledged

  private static final Set<Estimate.Source> OPEN =
      EnumSet.of(
          Estimate.Source.TOGETHER,
          Estimate.Source.UNDETERMINED,
          Estimate.Source.AT_MOST,
          Estimate.Source.AT_LEAST);

  @Spec private CommandSpec spec;

  @Option(
      names = "--params",
      paramLabel = "FILE",
      required = true,
      description = "The parameter file, such as the params.json of an evaluation.")
  private Path file = Path.of("");

  @Option(
      names = "--provider",
      paramLabel = "SCHEME",
      description = "The provider, if the file has parameters of several. Default: the first.")
  private @Nullable String provider;

  @Option(
      names = "--nodes",
      paramLabel = "N",
      required = true,
      description = "Number of sending nodes for N:1; number of nodes for N:N.")
  private int nodes;

  @Option(
      names = "--size",
      split = ",",
      paramLabel = "BYTES",
      converter = Values.Size.class,
      defaultValue = "16,512,8192",
      description = "Message sizes in bytes. Default: ${DEFAULT-VALUE}.")
  private List<Integer> sizes = List.of();

  @Option(
      names = "--unacked",
      paramLabel = "N",
      defaultValue = "64",
      description =
          "Maximum number of unacknowledged messages on each connection. Default:"
              + " ${DEFAULT-VALUE}.")
  private int unacked;

  @Option(
      names = "--batch",
      paramLabel = "N",
      defaultValue = "1",
      description = "Number of messages per batch. Default: 1.")
  private int batch;

  @Option(
      names = "--threads",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "Number of receiving threads, and of sending threads, of a node. Default:"
              + " ${DEFAULT-VALUE}.")
  private int threads;

  @Option(
      names = "--max-message",
      paramLabel = "BYTES",
      converter = Values.Size.class,
      description =
          "Longest message, for which each receive buffer has room. Default: the longest of"
              + " --size.")
  private @Nullable Integer maxMessage;

  @Option(
      names = "--receives",
      paramLabel = "N",
      defaultValue = "0",
      description = "Receive buffers of each connection. Default: the provider's.")
  private int receives;

  @Option(
      names = "--srq-receives",
      paramLabel = "N",
      defaultValue = "0",
      description = "Receive buffers of a shared receive queue (SRQ). Default: the provider's.")
  private int sharedReceives;

  @Option(
      names = "--ring",
      paramLabel = "BYTES",
      converter = Values.Size.class,
      defaultValue = "0",
      description = "Ring size of each connection, for magicring and sm. Default: the provider's.")
  private int ring;

  @Option(
      names = "--window",
      paramLabel = "N",
      defaultValue = "256",
      description = "Number of messages that a ring holds. Default: ${DEFAULT-VALUE}.")
  private int window;

  @Option(
      names = "--processors",
      paramLabel = "N",
      description =
          "For sm, whose nodes are processes of one host: number of processors that they share."
              + " Default: those that this process may use.")
  private @Nullable Integer processors;

  @Option(names = "--json", description = "Write JSON, as docs/json.md specifies.")
  private boolean json;

  /** Called by the service loader. */
  public ModelCommand() {}

  @Override
  public Integer call() {
    check();
    ParameterFile.Entry entry = entry(ParameterFile.read(file));
    Memory memory = new Memory(Math.max(1, longest()), receives, sharedReceives, ring, window);
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.print(toJson(entry, memory));
    } else {
      print(out, entry, memory);
    }
    return ExitCode.OK;
  }

  private void check() {
    require(nodes >= 2 && nodes <= MOST_NODES, "--nodes must be 2 to " + MOST_NODES);
    require(unacked >= 1, "--unacked must be at least 1");
    require(batch >= 1 && batch <= unacked, "--batch must be at least 1 and at most --unacked");
    require(threads >= 1, "--threads must be at least 1");
    require(processors == null || processors >= 1, "--processors must be at least 1");
    require(
        receives >= 0
            && receives <= MOST_RECEIVES
            && sharedReceives >= 0
            && sharedReceives <= MOST_RECEIVES,
        "--receives and --srq-receives must be 0 to " + MOST_RECEIVES);
    require(window >= 1 && window <= MOST_WINDOW, "--window must be 1 to " + MOST_WINDOW);
    int longest = sizes.stream().max(Integer::compare).orElse(0);
    require(
        maxMessage == null || maxMessage >= longest,
        "--max-message must be at least the longest of --size, " + longest);
  }

  private void require(boolean right, String otherwise) {
    if (!right) {
      throw new ParameterException(spec.commandLine(), otherwise);
    }
  }

  private ParameterFile.Entry entry(List<ParameterFile.Entry> entries) {
    if (provider == null) {
      return entries.get(0);
    }
    return entries.stream()
        .filter(entry -> entry.provider().equalsIgnoreCase(provider))
        .findFirst()
        .orElseThrow(() ->
            new ToolException(
                ExitCode.USAGE,
                "%s: no parameters for '%s'; it has %s"
                    .formatted(
                        file,
                        provider,
                        entries.stream()
                            .map(ParameterFile.Entry::provider)
                            .collect(Collectors.joining(", ")))));
  }

  private Scenario scenario(boolean shared, Scenario.Pattern pattern, int size) {
    return new Scenario(
        pattern, nodes, new Load(size, unacked, batch), threads, shared ? processors() : 0);
  }

  private int processors() {
    return processors != null ? processors : Math.max(1, Affinity.allowed().size());
  }

  /**
   * Returns the lowest message rate if one of the parameters with only an upper bound equals it.
   */
  private static double least(ParameterFile.Entry entry, Scenario scenario) {
    return entry.slowest().stream()
        .mapToDouble(model -> Prediction.of(model, scenario).messagesPerSecond())
        .reduce(Prediction.of(entry.model(), scenario).messagesPerSecond(), Math::min);
  }

  /**
   * Returns the parameters that the measurements do not determine: predictions that depend on them
   * are guesses. Those of the latency are omitted without acknowledgments, as they do not limit a
   * rate then.
   */
  private static List<String> uncertain(ParameterFile.Entry entry) {
    return entry.estimates().values().stream()
        .filter(estimate -> OPEN.contains(estimate.source()))
        .filter(estimate -> entry.acknowledged() || !ALONE.contains(estimate.parameter()))
        .map(estimate -> estimate.parameter().symbol())
        .toList();
  }

  private void print(PrintWriter out, ParameterFile.Entry entry, Memory memory) {
    boolean shared = isShared(entry);
    out.printf(
        "%s, %d nodes, %d unacknowledged, batches of %d, threads of a node: %d%n",
        PlainText.of(entry.provider()), nodes, unacked, batch, threads);
    if (!entry.note().isEmpty()) {
      out.println(PlainText.of(entry.note()));
    }
    String uncertain = String.join(", ", uncertain(entry));
    if (!uncertain.isEmpty()) {
      out.println("not determined by the measurements (predictions assume a value): " + uncertain);
    }
    TextTable rates = new TextTable();
    rates.cells("pattern", "bytes", "messages/s", "at worst", "bytes/s", "CPU allows");
    rates.cells(shared ? "lines allow" : "card allows", "bound");
    rates.endRow();
    for (Scenario.Pattern pattern : Scenario.Pattern.values()) {
      for (int size : sizes) {
        Scenario scenario = scenario(shared, pattern, size);
        Prediction prediction = Prediction.of(entry.model(), scenario);
        rates.cells(
            pattern.toString(),
            String.valueOf(size),
            rate(prediction.messagesPerSecond()),
            rate(least(entry, scenario)),
            rate(prediction.bytesPerSecond()),
            rate(prediction.cpuMessagesPerSecond()),
            rate(prediction.nicMessagesPerSecond()),
            prediction.bottleneck().words(!shared));
        rates.endRow();
      }
    }
    out.print(rates);
    out.println(
        shared
            ? "rates are per receiving process; all processes share " + processors() + " processors"
            : "rates are per receiving node");
    TextTable table = new TextTable();
    table.cells(shared ? "memory of a process's connections" : "memory of a node", "connections");
    parts(shared, memory).forEach(part -> table.cells(part.heading()));
    table.endRow();
    for (Scenario.Pattern pattern : Scenario.Pattern.values()) {
      long connections = scenario(false, pattern, 0).connections();
      table.cells(pattern.toString(), String.valueOf(connections));
      parts(shared, memory)
          .forEach(part -> table.cells(Numbers.bytes(part.bytes().applyAsLong(connections))));
      table.endRow();
    }
    out.print(table);
    SharedMemory sm = sharedMemory();
    out.println(
        shared
            ? "for messages of up to %s bytes; in each direction a ring of %s, and a buffer of %s"
                .formatted(
                    sm.maxMessage(), Numbers.bytes(sm.ringBytes()), Numbers.bytes(sm.bufferBytes()))
            : ("for messages of up to %s bytes; buffers: %s for each connection; SRQ: %s for all;"
                    + " rings: %s each")
                .formatted(
                    memory.maxMessage(),
                    memory.receives(),
                    memory.sharedReceives(),
                    Numbers.bytes(memory.ringBytes())));
  }

  /** A part of a node's memory, with its names in a table and in JSON. */
  private record Part(String heading, String field, LongUnaryOperator bytes) {}

  private List<Part> parts(boolean shared, Memory memory) {
    return shared
        ? List.of(new Part("shared", "shared_bytes", sharedMemory()::bytes))
        : List.of(
            new Part("buffers", "receive_buffers_bytes", memory::ownBufferBytes),
            new Part("SRQ", "srq_bytes", memory::sharedBufferBytes),
            new Part("rings", "rings_bytes", memory::ringMemoryBytes),
            new Part("send buffers", "send_bytes", memory::sendBytes));
  }

  /**
   * Returns whether the nodes share one host: no cards and no receive buffers, but mapped memory.
   */
  private static boolean isShared(ParameterFile.Entry entry) {
    return entry.provider().equalsIgnoreCase(SHARED_MEMORY);
  }

  private SharedMemory sharedMemory() {
    int wanted = ring == 0 ? DEFAULT_SHARED_RING : ring;
    int allowed = Math.clamp(wanted, SMALLEST_SHARED_RING, LARGEST_SHARED_RING);
    return new SharedMemory(Math.max(1, longest()), Integer.highestOneBit(2 * allowed - 1));
  }

  private int longest() {
    return maxMessage != null ? maxMessage : sizes.stream().max(Integer::compare).orElse(0);
  }

  private static String rate(double value) {
    return Double.isInfinite(value) ? "any" : Numbers.scaled(value);
  }

  private String toJson(ParameterFile.Entry entry, Memory memory) {
    JsonDocument document = new JsonDocument("ferrule.model/1", Instant.now());
    JsonObject object = document.properties();
    object.addProperty("provider", entry.provider());
    if (!entry.note().isEmpty()) {
      object.addProperty("note", entry.note());
    }
    object.addProperty("nodes", nodes);
    object.addProperty("unacked", unacked);
    object.addProperty("batch", batch);
    object.addProperty("threads", threads);
    JsonArray symbols = new JsonArray();
    uncertain(entry).forEach(symbols::add);
    object.add("uncertain", symbols);
    JsonArray sums = new JsonArray();
    for (Scenario.Pattern pattern : Scenario.Pattern.values()) {
      for (int size : sizes) {
        document.results().add(rates(entry, scenario(isShared(entry), pattern, size)));
      }
      sums.add(sums(isShared(entry), memory, scenario(false, pattern, 0)));
    }
    object.add("memory", sums);
    return document.format();
  }

  private static JsonObject rates(ParameterFile.Entry entry, Scenario scenario) {
    Prediction prediction = Prediction.of(entry.model(), scenario);
    JsonObject object = new JsonObject();
    object.addProperty("pattern", scenario.pattern().toString());
    object.addProperty("size_bytes", scenario.load().sizeBytes());
    add(object, "messages_per_s", prediction.messagesPerSecond());
    add(object, "least_messages_per_s", least(entry, scenario));
    add(object, "bytes_per_s", prediction.bytesPerSecond());
    add(object, "cpu_messages_per_s", prediction.cpuMessagesPerSecond());
    add(object, "nic_messages_per_s", prediction.nicMessagesPerSecond());
    object.addProperty("bottleneck", prediction.bottleneck().toString());
    return object;
  }

  /** Adds a value, unless it is unbounded: JSON has no infinity. */
  private static void add(JsonObject object, String name, double value) {
    if (Double.isFinite(value)) {
      object.addProperty(name, Math.round(value));
    }
  }

  private JsonObject sums(boolean shared, Memory memory, Scenario scenario) {
    long connections = scenario.connections();
    JsonObject object = new JsonObject();
    object.addProperty("pattern", scenario.pattern().toString());
    object.addProperty("connections", connections);
    parts(shared, memory)
        .forEach(part -> object.addProperty(part.field(), part.bytes().applyAsLong(connections)));
    return object;
  }
}
