// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import static dev.ferrule.lab.evaluate.SystemFiles.list;
import static dev.ferrule.lab.evaluate.SystemFiles.text;
import static dev.ferrule.lab.evaluate.SystemFiles.value;

import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import dev.ferrule.tools.report.Numbers;
import dev.ferrule.tools.support.Affinity;
import dev.ferrule.tools.support.Commit;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The facts about the machine on which figures were measured, without which figures have no
 * meaning. Facts that the system does not reveal are omitted.
 */
public final class Machine {

  /** The variable that names the accelerator of a virtual machine of {@code with-rxe}. */
  private static final String WITH_RXE = "FERRULE_RXE_VM";

  private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");
  private static final Path CPU_INFO = Path.of("/proc/cpuinfo");
  private static final Path CPUS = Path.of("/sys/devices/system/cpu");
  private static final Path CGROUP = Path.of("/sys/fs/cgroup");
  private static final Path INFINIBAND = Path.of("/sys/class/infiniband");
  private static final String PROCESSOR = "processor";
  private static final String KERNEL = "kernel";
  private static final String JVM = "JVM";
  private static final String FLAGS = "JVM flags";

  /** The version of Ferrule measured. */
  static final String FERRULE = "ferrule";

  /** The load average at the beginning of the measurement. */
  static final String LOAD = "load when it began";

  /** The time when the measurement began. */
  static final String BEGAN = "began";

  /** The facts of the host of the servers, if it is another. */
  static final String SERVERS = "host of the servers";

  private static final String VIRTUAL = "virtual";

  /** The facts that programs need, unformatted. */
  private static final String RAW = "raw";

  private static final String RAW_LOAD = "load_1min";
  private static final String RAW_EMULATED = "emulated";
  private static final String RAW_PROCESSORS = "processors";
  private static final Path LOADS = Path.of("/proc/loadavg");

  private static final String ALLOWED = "allowed processors";

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss 'UTC'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);
  private static final Pattern KIBIBYTES = Pattern.compile("(\\d+) ?(?:kB|K)");
  private static final double KIBI = 1024;
  private static final Pattern FIRST_LOAD = Pattern.compile("\\d+(?:\\.\\d+)?");
  private static final String UNLIMITED = "unlimited";

  /** Version 1 of cgroups represents "no limit" by a very large limit. */
  private static final double UNLIMITED_BYTES = 1L << 60;

  private final Map<String, String> facts = new LinkedHashMap<>();
  private final JsonObject raw = new JsonObject();

  private Machine() {}

  /** Collects the facts, with the version of Ferrule. */
  public static Machine look(String version) {
    Machine machine = new Machine();
    machine.put("host", text(HOST_NAME));
    machine.put(PROCESSOR, model());
    machine.put("topology", topology());
    machine.put(ALLOWED, Affinity.allowed().toString());
    machine.put("caches", caches());
    machine.put("memory", value(Path.of("/proc/meminfo"), "MemTotal").map(Machine::kibibytes));
    machine.put(VIRTUAL, virtual());
    machine.put(KERNEL, property("os.name") + " " + property("os.version"));
    machine.put("distribution", distribution());
    machine.put("frequency governor", text(CPUS.resolve("cpu0/cpufreq/scaling_governor")));
    machine.put("RDMA devices", Optional.of(devices()));
    machine.put(
        JVM,
        property("java.vm.name")
            + " "
            + property("java.vm.version")
            + " of "
            + property("java.vendor"));
    machine.put(FLAGS, flags());
    machine.put(FERRULE, version);
    machine.put("container limits", Optional.of(limits()));
    machine.put(
        "locked memory",
        value(Path.of("/proc/self/limits"), "Max locked memory").map(Machine::lockedMemory));
    Optional<String> loads = text(LOADS);
    machine.put(LOAD, loads.map(Machine::loads));
    machine.put(BEGAN, TIME.format(Instant.now()));
    loads.flatMap(Machine::load).ifPresent(load -> machine.raw.addProperty(RAW_LOAD, load));
    machine.raw.addProperty(RAW_EMULATED, isEmulated());
    machine.raw.addProperty(RAW_PROCESSORS, Affinity.allowed().size());
    return machine;
  }

  private static String property(String name) {
    return System.getProperty(name);
  }

  private void put(String name, String value) {
    facts.put(name, value);
  }

  private void put(String name, Optional<String> value) {
    value.ifPresent(known -> facts.put(name, known));
  }

  /** Parses a value of {@code /proc/meminfo} or of a cache: {@code 24683520 kB}, {@code 32K}. */
  static String kibibytes(String text) {
    Matcher size = KIBIBYTES.matcher(text);
    return size.matches() ? Numbers.bytes(Double.parseDouble(size.group(1)) * KIBI) : text;
  }

  /** Parses {@code /proc/loadavg}: {@code 0.36 0.50 0.43 2/345 12345}. */
  static String loads(String text) {
    String[] words = text.split("\\s+");
    return words.length < 3
        ? text
        : "%s (1 minute), %s (5 minutes), %s (15 minutes)".formatted(words[0], words[1], words[2]);
  }

  /** Returns the load average of the last minute; empty if unknown. */
  public static OptionalDouble loadAverage() {
    return text(LOADS).flatMap(Machine::load).stream().mapToDouble(load -> load).findFirst();
  }

  /** Returns the first number of {@code /proc/loadavg}. */
  static Optional<Double> load(String text) {
    Matcher load = FIRST_LOAD.matcher(text);
    return load.lookingAt() ? Optional.of(Double.valueOf(load.group())) : Optional.empty();
  }

  /** Parses a line of {@code /proc/self/limits}: {@code 8388608 unlimited bytes}, soft and hard. */
  static String lockedMemory(String text) {
    String[] words = text.split("\\s+");
    if (words.length < 2) {
      return text;
    }
    String soft = limit(words[0]);
    String hard = limit(words[1]);
    return soft.equals(hard) ? soft : soft + ", hard limit " + hard;
  }

  /** Parses {@code cpu.max}: {@code max 100000}, or microseconds and the period. */
  static String processorLimit(String text) {
    String[] words = text.split("\\s+");
    if (words.length < 2 || !words[0].matches("\\d+") || !words[1].matches("[1-9]\\d*")) {
      return words[0].equals("max") ? UNLIMITED : text;
    }
    return Numbers.plain(Double.parseDouble(words[0]) / Double.parseDouble(words[1]))
        + " processors";
  }

  /** Parses a number of bytes, or the value for no limit. */
  static String limit(String text) {
    if (!text.matches("\\d+")) {
      return text.equals("max") ? UNLIMITED : text;
    }
    double bytes = Double.parseDouble(text);
    return bytes >= UNLIMITED_BYTES ? UNLIMITED : Numbers.bytes(bytes);
  }

  /** Returns all facts, in order. */
  Map<String, String> facts() {
    return facts;
  }

  /** Returns those facts that must be equal for figures to be comparable. */
  static JsonObject identity(JsonObject facts) {
    JsonObject identity = new JsonObject();
    for (String name : List.of(PROCESSOR, ALLOWED, KERNEL, JVM, FLAGS, FERRULE)) {
      identity.addProperty(
          name, facts.get(name) instanceof JsonPrimitive value ? value.getAsString() : "");
    }
    return identity;
  }

  /** Returns the facts by name, and below {@code raw} those that programs need. */
  public JsonObject json() {
    JsonObject object = new JsonObject();
    facts.forEach(object::addProperty);
    object.add(RAW, raw);
    return object;
  }

  /** Returns the load average of the last minute when a measurement began; empty if unknown. */
  static OptionalDouble loadOf(JsonObject machine) {
    return raw(machine, RAW_LOAD).stream().mapToDouble(JsonPrimitive::getAsDouble).findFirst();
  }

  /**
   * Returns the number of a machine's processors that a measurement could use; that of this machine
   * if unknown.
   */
  static int processorsOf(JsonObject machine) {
    return raw(machine, RAW_PROCESSORS)
        .map(JsonPrimitive::getAsInt)
        .orElseGet(() -> Affinity.allowed().size());
  }

  /** Returns whether the processors of a measurement are known to be emulated. */
  static boolean isEmulated(JsonObject machine) {
    return raw(machine, RAW_EMULATED).map(JsonPrimitive::getAsBoolean).orElse(false);
  }

  private static Optional<JsonPrimitive> raw(JsonObject machine, String name) {
    return machine.get(RAW) instanceof JsonObject raw
            && raw.get(name) instanceof JsonPrimitive value
        ? Optional.of(value)
        : Optional.empty();
  }

  /** Returns the JVM flags, except the one that states the commit, which is shown separately. */
  private static String flags() {
    return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(flag -> !flag.startsWith("-D" + Commit.PROPERTY))
        .collect(Collectors.joining(" "));
  }

  private static Optional<String> model() {
    return value(CPU_INFO, "model name")
        .or(() -> value(CPU_INFO, "CPU implementer").map(code -> "CPU implementer " + code))
        .map(model -> model + ", " + property("os.arch"));
  }

  private static Optional<String> topology() {
    Set<String> packages = new HashSet<>();
    Set<String> cores = new HashSet<>();
    int threads = 0;
    for (Path cpu : list(CPUS, "cpu[0-9]*")) {
      Optional<String> socket = text(cpu.resolve("topology/physical_package_id"));
      Optional<String> core = text(cpu.resolve("topology/core_id"));
      if (socket.isPresent() && core.isPresent()) {
        threads++;
        packages.add(socket.get());
        cores.add(socket.get() + "/" + core.get());
      }
    }
    if (threads == 0) {
      return Optional.empty();
    }
    int nodes = list(Path.of("/sys/devices/system/node"), "node[0-9]*").size();
    return Optional.of(
        "%s threads on %s cores of %s sockets".formatted(threads, cores.size(), packages.size())
            + (nodes > 0 ? ", NUMA nodes: " + nodes : ""));
  }

  private static Optional<String> caches() {
    List<String> caches = new ArrayList<>();
    for (Path cache : list(CPUS.resolve("cpu0/cache"), "index[0-9]*")) {
      text(cache.resolve("size"))
          .ifPresent(size ->
              caches.add(
                  "L%s %s %s for CPUs %s"
                      .formatted(
                          text(cache.resolve("level")).orElse("?"),
                          text(cache.resolve("type")).orElse(""),
                          kibibytes(size),
                          text(cache.resolve("shared_cpu_list")).orElse("?"))));
    }
    return joined(caches);
  }

  private static Optional<String> joined(List<String> facts) {
    return facts.isEmpty() ? Optional.empty() : Optional.of(String.join("; ", facts));
  }

  private static Optional<String> virtual() {
    boolean hypervisor = text(CPU_INFO).map(text -> text.contains(" hypervisor")).orElse(false);
    String product = text(Path.of("/sys/class/dmi/id/product_name")).orElse("");
    String own = System.getenv(WITH_RXE);
    if (own != null) {
      return Optional.of(
          isEmulated()
              ? "a virtual machine of with-rxe whose processors are emulated: only ratios within"
                  + " this report are meaningful"
              : "a virtual machine of with-rxe (" + own + ")");
    }
    return hypervisor
        ? Optional.of("yes" + (product.isEmpty() ? "" : ", " + product))
        : Optional.empty();
  }

  /** Returns whether this machine's processors are emulated. */
  static boolean isEmulated() {
    return "tcg".equals(System.getenv(WITH_RXE));
  }

  private static Optional<String> distribution() {
    return value(Path.of("/etc/os-release"), "PRETTY_NAME").map(name -> name.replace("\"", ""));
  }

  private static String devices() {
    List<String> found = new ArrayList<>();
    for (Path device : list(INFINIBAND, "*")) {
      StringBuilder facts = new StringBuilder(device.getFileName().toString());
      text(device.resolve("fw_ver")).ifPresent(version -> facts.append(", firmware " + version));
      Stream.of("hca_type", "ports/1/state", "ports/1/rate")
          .flatMap(name -> text(device.resolve(name)).stream())
          .forEach(fact -> facts.append(", ").append(fact));
      found.add(facts.toString());
    }
    return joined(found).orElse("none");
  }

  private static String limits() {
    List<String> limits = new ArrayList<>();
    text(CGROUP.resolve("cpu.max"))
        .ifPresent(text -> limits.add("CPU time: " + processorLimit(text)));
    text(CGROUP.resolve("memory.max"))
        .or(() -> text(CGROUP.resolve("memory/memory.limit_in_bytes")))
        .ifPresent(text -> limits.add("memory: " + limit(text)));
    text(CGROUP.resolve("cpuset.cpus.effective"))
        .ifPresent(text -> limits.add("processors: " + text));
    String period = text(CGROUP.resolve("cpu/cpu.cfs_period_us")).orElse("");
    text(CGROUP.resolve("cpu/cpu.cfs_quota_us"))
        .map(quota -> quota.startsWith("-") ? UNLIMITED : processorLimit(quota + " " + period))
        .ifPresent(limit -> limits.add("CPU time: " + limit));
    return joined(limits).orElse("none found");
  }
}
