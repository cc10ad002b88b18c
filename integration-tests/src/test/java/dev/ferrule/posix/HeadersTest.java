// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.UnionLayout;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Compares the bindings, which were generated on x86-64, with the C headers of x86-64 and aarch64:
 * a C compiler checks an assertion for each constant, size and offset. No program runs, so a cross
 * compiler is enough.
 */
class HeadersTest {

  private static final Path CHECKOUT = Path.of("").toAbsolutePath().getParent();
  private static final Path JEXTRACT = CHECKOUT.resolve("build-support/jextract");
  private static final Path HEADERS = Path.of("/usr/include");
  private static final Pattern FAILED =
      Pattern.compile("static assertion failed: \"([^\"]+)\"|error: '(\\w+)' undeclared");

  /** A machine, and the prefix of its C compiler. */
  enum Machine {
    X86_64("amd64", "x86_64-linux-gnu-", Abi.X86_64),
    AARCH64("aarch64", "aarch64-linux-gnu-", Abi.AARCH64);

    private final String arch;
    private final String prefix;
    private final Abi abi;

    Machine(String arch, String prefix, Abi abi) {
      this.arch = arch;
      this.prefix = prefix;
      this.abi = abi;
    }

    String compiler() {
      return System.getProperty("os.arch").equals(arch) ? "gcc" : prefix + "gcc";
    }
  }

  /** The bindings of a C library: the class of its functions and constants, and its header. */
  enum Bindings {
    LIBC("posix", "dev.ferrule.posix.libc.LibC", "libc.h"),
    IBVERBS("verbs", "dev.ferrule.verbs.libibverbs.Verbs", "verbs.h"),
    RDMACM("verbs", "dev.ferrule.verbs.librdmacm.RdmaCm", "rdmacm.h");

    private final String module;
    private final String header;
    private final Path include;

    Bindings(String module, String header, String include) {
      this.module = module;
      this.header = header;
      this.include = JEXTRACT.resolve(include);
    }

    Path folder() {
      return CHECKOUT
          .resolve(module + "/src/main/java")
          .resolve(header.replace('.', '/'))
          .getParent();
    }
  }

  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource({
    "X86_64, LIBC", "X86_64, IBVERBS", "X86_64, RDMACM",
    "AARCH64, LIBC", "AARCH64, IBVERBS", "AARCH64, RDMACM"
  })
  void theBindingsDifferFromTheHeadersOnlyInWhatIsNotUsed(Machine machine, Bindings bindings)
      throws Exception {
    if (bindings != Bindings.LIBC) {
      assumeTrue(
          Files.exists(HEADERS.resolve("rdma/rdma_cma.h")),
          "there are no headers of rdma-core (packages libibverbs-dev and librdmacm-dev)");
      assumeTrue(isLoadable(bindings.header), "there is no library for " + bindings.header);
    }
    List<String> lines = new ArrayList<>(List.of("#include \"" + bindings.include + "\""));
    addConstants(Class.forName(bindings.header), lines);
    for (Class<?> type : typesOf(bindings)) {
      addLayout(type, lines);
    }
    assertThat(lines).hasSizeGreaterThan(50);
    for (String difference : differences(machine, lines)) {
      assertThat(machine).as(difference).isNotEqualTo(Machine.X86_64);
      assertThat(usesOf(difference))
          .as("uses of %s, which differs on %s", difference, machine)
          .isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource
  void theNumbersOfEachMachineAreThoseOfItsHeaders(Machine machine) throws Exception {
    Abi abi = machine.abi;
    List<String> ofLibc =
        List.of(
            "#define _GNU_SOURCE",
            "#include <fcntl.h>",
            "#include <sys/epoll.h>",
            "#include <sys/syscall.h>",
            claim("SYS_membarrier == " + abi.membarrier(), "membarrier"),
            claim("SYS_futex == " + abi.futex(), "futex"),
            claim("SYS_fstat == " + abi.fstat(), "fstat"),
            claim("O_NOFOLLOW == " + abi.noFollow(), "O_NOFOLLOW"),
            claim("O_DIRECTORY == " + abi.directory(), "O_DIRECTORY"),
            claim("O_PATH == " + Posix.O_PATH, "O_PATH"),
            claim("sizeof(struct epoll_event) == " + abi.eventSize(), "epoll_event"),
            claim("offsetof(struct epoll_event, data) == " + abi.eventData(), "data"));
    // not glibc's struct stat: the kernel writes its own
    List<String> ofKernel =
        List.of(
            "#include <asm/stat.h>",
            claim("offsetof(struct stat, st_mode) == " + abi.statMode(), "st_mode"),
            claim("offsetof(struct stat, st_uid) == " + abi.statUser(), "st_uid"),
            claim("offsetof(struct stat, st_nlink) == " + abi.statLinks(), "st_nlink"),
            claim("offsetof(struct stat, st_size) == 48", "st_size"),
            claim("offsetof(struct stat, st_blocks) == 64", "st_blocks"));
    assertThat(differences(machine, ofLibc)).isEmpty();
    assertThat(differences(machine, ofKernel)).isEmpty();
  }

  /**
   * Returns the lines of the modules that use a part of the bindings, other than the bindings, and
   * benchmarks, which have structures of their own.
   */
  private static List<String> usesOf(String part) throws IOException {
    Pattern use;
    if (part.startsWith("sizeof ")) {
      use =
          Pattern.compile(
              "\\b%s\\.(sizeof|layout|allocate|reinterpret)".formatted(part.substring(7)));
    } else if (part.contains(".")) {
      use = Pattern.compile("\\b%s(\\$\\w+)?\\(".formatted(part.replace(".", "\\.")));
    } else {
      use = Pattern.compile("\\.%s\\(\\)".formatted(part));
    }
    List<String> uses = new ArrayList<>();
    for (Path file : sources()) {
      for (String line : Files.readAllLines(file)) {
        if (use.matcher(line).find()) {
          uses.add(file.getFileName() + ": " + line.strip());
        }
      }
    }
    return uses;
  }

  private static List<Path> sources() throws IOException {
    List<Path> sources = new ArrayList<>();
    try (Stream<Path> modules = Files.list(CHECKOUT)) {
      for (Path module : modules.map(path -> path.resolve("src/main/java")).toList()) {
        if (Files.isDirectory(module) && !module.startsWith(CHECKOUT.resolve("benchmarks"))) {
          try (Stream<Path> files = Files.walk(module)) {
            files
                .filter(file -> file.toString().endsWith(".java"))
                .filter(file ->
                    Stream.of(Bindings.values()).noneMatch(b -> file.startsWith(b.folder())))
                .forEach(sources::add);
          }
        }
      }
    }
    assertThat(sources).hasSizeGreaterThan(300);
    return sources;
  }

  private static void addConstants(Class<?> header, List<String> lines) throws Exception {
    for (Method method : header.getMethods()) {
      String name = method.getName();
      boolean number = method.getReturnType() == int.class || method.getReturnType() == long.class;
      if (Modifier.isStatic(method.getModifiers())
          && method.getParameterCount() == 0
          && number
          && Stream.of(header.getMethods()).noneMatch(m -> m.getName().equals(name + "$handle"))) {
        String value = "(" + method.getReturnType() + ") (" + name + ")";
        lines.add(claim(value + " == " + method.invoke(null) + "L", name));
      }
    }
  }

  private static List<Class<?>> typesOf(Bindings bindings) throws Exception {
    List<Class<?>> types = new ArrayList<>();
    String prefix = bindings.header.substring(0, bindings.header.lastIndexOf('.') + 1);
    try (Stream<Path> files = Files.list(bindings.folder())) {
      for (Path file : files.sorted().toList()) {
        Class<?> type = Class.forName(prefix + file.getFileName().toString().replace(".java", ""));
        // what is inside glibc's types has no name in C, and is a part of pthread_mutex_t and
        // others
        if (!type.getSimpleName().startsWith("__")
            && Stream.of(type.getMethods()).anyMatch(method -> method.getName().equals("layout"))) {
          types.add(type);
        }
      }
    }
    return types;
  }

  private static void addLayout(Class<?> type, List<String> lines) throws Exception {
    GroupLayout layout = (GroupLayout) type.getMethod("layout").invoke(null);
    String name = type.getSimpleName();
    String inC =
        name.endsWith("_t") ? name : (layout instanceof UnionLayout ? "union " : "struct ") + name;
    lines.add(claim("sizeof(" + inC + ") == " + layout.byteSize(), "sizeof " + name));
    addFields(layout, 0, inC, name, lines);
  }

  private static void addFields(
      GroupLayout layout, long start, String inC, String name, List<String> lines) {
    long offset = start;
    for (MemoryLayout member : layout.memberLayouts()) {
      String field = member.name().orElse("");
      if (field.contains("$anon") && member instanceof GroupLayout group) {
        addFields(group, offset, inC, name, lines);
      } else if (!field.isEmpty() && !field.contains("$") && !field.startsWith("__")) {
        lines.add(claim("offsetof(" + inC + ", " + field + ") == " + offset, name + "." + field));
      }
      offset += layout instanceof UnionLayout ? 0 : member.byteSize();
    }
  }

  private static String claim(String expression, String name) {
    return "_Static_assert(" + expression + ", \"" + name + "\");";
  }

  /** Returns the names of the claims that do not hold. */
  private Set<String> differences(Machine machine, List<String> lines) throws Exception {
    assumeTrue(isInstalled(machine.compiler()), "there is no " + machine.compiler());
    Path source = folder.resolve("claims.c");
    List<String> all = new ArrayList<>(List.of("#include <stddef.h>"));
    all.addAll(lines);
    Files.write(source, all);
    Path output = folder.resolve("output");
    ProcessBuilder builder =
        new ProcessBuilder(
                machine.compiler(),
                "-fsyntax-only",
                "-fmax-errors=0",
                "-idirafter",
                HEADERS.toString(), // only for those of RDMA, which a cross compiler lacks
                source.toString())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    builder.environment().put("LC_ALL", "C");
    Process compiler = builder.start();
    compiler.waitFor();
    Set<String> names = new TreeSet<>();
    for (String line : Files.readAllLines(output)) {
      // an unknown name causes another error
      if (line.contains("error:") && !line.endsWith("in static assertion is not an integer")) {
        Matcher matcher = FAILED.matcher(line);
        assertThat(matcher.find()).as(line).isTrue();
        names.add(matcher.group(1) == null ? matcher.group(2) : matcher.group(1));
      }
    }
    return names;
  }

  private static boolean isInstalled(String program) {
    return Stream.of(System.getenv("PATH").split(":"))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
  }

  /** Returns whether the library that the bindings load is installed. */
  private static boolean isLoadable(String header) throws ClassNotFoundException {
    try {
      Class.forName(header);
      return true;
    } catch (LinkageError e) {
      return false;
    }
  }
}
