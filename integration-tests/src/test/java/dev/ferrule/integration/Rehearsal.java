// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.stream.Stream;

/**
 * A folder like the root of the checkout, in which bash runs the commands of the pages. In {@link
 * #calls} each program only records its arguments, and the scripts only parse them. In {@link
 * #start}, the commands over shared memory and the Java programs really run.
 */
final class Rehearsal implements AutoCloseable {

  /** Scripts whose function {@code parse} is run, and nothing else. */
  private static final List<String> PARSING =
      List.of("test", "release", "dist", "with-rxe", "with-arch", "docs/site");

  /** Programs of the checkout that record their arguments. */
  private static final List<String> RECORDING =
      List.of(
          "ferrule",
          "compare",
          "benchmark",
          "mvnw",
          "models/check",
          "build-support/many-connections.sh",
          "build-support/ucx.sh",
          "build-support/check-reproducible.sh",
          "build-support/bench/rdma-path.sh");

  /** Programs of the system that record their arguments. */
  private static final List<String> SYSTEM =
      List.of(
          "docker", "curl", "jq", "jfr", "openssl", "mkdir", "java", "javac", "tar", "ln", "scp",
          "ssh", "dpkg");

  private static final String RECORD =
      """
      printf '%%s\\0' %s "${FERRULE_RXE_DEVICE:+device}" "$@" $'\\1' >>"$FERRULE_RECORD"
      """;

  /** Runs the command of with-rxe, on each host, unless it is an interactive shell. */
  private static final String ON_A_DEVICE =
      """
      PATH=$FERRULE_REHEARSAL/bin
      export FERRULE_RXE_DEVICE=rxe0 FERRULE_RXE_ADDRESS=10.0.0.1 FERRULE_RXE_PEER=10.0.0.2
      [ "${command[*]}" != bash ] || exit 0
      for FERRULE_RXE_HOST in 1 ${two:+2}; do
        export FERRULE_RXE_HOST
        "${command[@]}" || exit
      done
      """;

  private static final String END = "\1";

  private final Path folder;
  private final Path root;
  private final Path record;
  private final List<Path> links = new ArrayList<>();

  /**
   * A program that a command has started.
   *
   * @param program the program's name, such as {@code test}
   * @param onDevice whether with-rxe has started it
   * @param arguments its arguments
   */
  record Call(String program, boolean onDevice, List<String> arguments) {}

  Rehearsal(Path folder) throws IOException {
    this.folder = folder;
    root = Files.createDirectories(folder.resolve("checkout"));
    record = folder.resolve("record");
    Path bin = Files.createDirectories(folder.resolve("bin"));
    program(bin.resolve("bash"), "exec /bin/bash \"$@\"\n");
    linkSupport();
    for (String script : PARSING) {
      program(root.resolve(script), parsing(script));
    }
    for (String name : RECORDING) {
      assertThat(Page.ROOT.resolve(name)).isExecutable();
      program(root.resolve(name), recording(Path.of(name).getFileName().toString()));
    }
    program(bin.resolve("ferrule"), "exec \"$FERRULE_REHEARSAL/checkout/ferrule\" \"$@\"\n");
    for (String name : SYSTEM) {
      program(bin.resolve(name), recording(name));
    }
    program( // as if the archive of ./dist had been unpacked
        root.resolve("ferrule-" + Distribution.VERSION + "-linux-x86_64/bin/ferrule"),
        recording("ferrule"));
    Files.createDirectories(root.resolve("classes"));
    for (String name : List.of("-linux-x86_64.tar.gz", "-image-x86_64.tar.gz", "_amd64.deb")) {
      Files.createFile(root.resolve("ferrule-" + Distribution.VERSION + name));
    }
    Files.createFile(root.resolve("original"));
  }

  private void linkSupport() throws IOException {
    Path support = Page.ROOT.resolve("build-support");
    for (Path target :
        List.of(root.resolve("build-support"), root.resolve("build-support/bench"))) {
      Path source = support.resolve(root.resolve("build-support").relativize(target).toString());
      Files.createDirectories(target);
      try (Stream<Path> files = Files.list(source)) {
        for (Path file : files.toList()) {
          String name = Page.ROOT.relativize(file).toString();
          if (!RECORDING.contains(name) && !name.equals("build-support/bench")) {
            link(target.resolve(file.getFileName()), file);
          }
        }
      }
    }
    link(root.resolve("examples"), Page.ROOT.resolve("examples"));
  }

  private void link(Path name, Path target) throws IOException {
    links.add(Files.createSymbolicLink(name, target));
  }

  /** Removes the links to files outside of the folder, which JUnit reports when it removes it. */
  @Override
  public void close() throws IOException {
    for (Path link : links) {
      Files.delete(link);
    }
  }

  private static void program(Path file, String text) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, "#!/bin/bash\n" + text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private static String parsing(String name) throws IOException {
    String script = Files.readString(Page.ROOT.resolve(name));
    String program = name.substring(name.indexOf('/') + 1);
    String end =
        "parse \"$@\"\n" + RECORD.formatted(program) + (name.equals("with-rxe") ? ON_A_DEVICE : "");
    String changed =
        script.replaceFirst("(?m)^main \"\\$@\".*$", Matcher.quoteReplacement(end + "exit"));
    assertThat(changed).as(name + " ends with a call of main").isNotEqualTo(script);
    return "PATH=$FERRULE_REAL_PATH\n" + changed;
  }

  /** Returns a program that records its arguments, or runs. */
  private static String recording(String name) {
    String run =
        switch (name) {
          case "ferrule", "compare" ->
              """
              exec "$FERRULE_JAVA/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \\
                --enable-native-access=ALL-UNNAMED --add-opens java.base/jdk.internal.misc=ALL-UNNAMED \\
                --sun-misc-unsafe-memory-access=allow -cp "$FERRULE_CLASSES" \\
                dev.ferrule.integration.LittleEffort %s "$@"
              """
                  .formatted(name);
          case "java", "javac", "jfr" ->
              """
              words=()
              for word; do words+=("${word//tools\\/target\\/ferrule\\/lib\\/\\*/$FERRULE_CLASSES}"); done
              exec "$FERRULE_JAVA/%s" "${words[@]}"
              """
                  .formatted(name);
          default -> "exit 0\n";
        };
    String output =
        switch (name) {
          case "openssl" -> "echo 00112233445566778899aabbccddeeff\n";
          case "ssh" -> "exec bash -c \"$2\"\n";
          default -> "";
        };
    return "if [ \"${FERRULE_RUN:-}\" ]; then\n"
        + run
        + "fi\n"
        + RECORD.formatted(name)
        + output
        + "exit 0\n";
  }

  /** Returns the folder in which the commands run. */
  Path root() {
    return root;
  }

  /** Returns the folder that replaces /dev/shm for the block that begins at a line. */
  Path sharedMemory(int line) throws IOException {
    return Files.createDirectories(folder.resolve("shm" + line));
  }

  private ProcessBuilder bash(PageCommand command, int block) throws IOException {
    String text =
        command
            .text()
            .replaceAll("> /sys/\\S+", "> /dev/null")
            .replace("/dev/shm/", sharedMemory(block) + "/")
            .replace("/srv/", folder + "/srv/")
            .replaceFirst("\\s*&$", ""); // the test starts it in the background
    ProcessBuilder builder = new ProcessBuilder("/bin/bash", "-c", text);
    builder.directory(root.toFile());
    Map<String, String> environment = builder.environment();
    environment.keySet().removeIf(name -> name.startsWith("FERRULE_"));
    environment.put("FERRULE_REAL_PATH", environment.get("PATH"));
    environment.put("FERRULE_REHEARSAL", folder.toString());
    environment.put("FERRULE_RECORD", record.toString());
    environment.put("FERRULE_CLASSES", System.getProperty("java.class.path"));
    environment.put("FERRULE_JAVA", Path.of(System.getProperty("java.home"), "bin").toString());
    environment.put("PATH", folder.resolve("bin").toString());
    return builder;
  }

  /** Returns the programs that a command starts, with their arguments, without running them. */
  List<Call> calls(PageCommand command, int block) throws Exception {
    assertThat(command.text())
        .as("%s: writes outside of the folder of this test", command.place())
        .doesNotContainPattern("> */(?!dev/shm/|sys/)");
    Files.deleteIfExists(record);
    Process process = bash(command, block).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor()).as("%s: %s", command.place(), output).isZero();
    List<Call> calls = new ArrayList<>();
    if (Files.exists(record)) {
      for (String call : Files.readString(record).split("\0" + END + "\0")) {
        List<String> words = List.of(call.split("\0", -1));
        calls.add(new Call(words.get(0), !words.get(1).isEmpty(), words.subList(2, words.size())));
      }
    }
    return calls;
  }

  /** Starts a command; both of its outputs go to a file. */
  Process start(PageCommand command, int block, Path output) throws IOException {
    ProcessBuilder builder = bash(command, block);
    builder.environment().put("FERRULE_RUN", "yes");
    builder.environment().put("FERRULE_OPTIONS", "wait=adaptive"); // other tests run as well
    return builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
  }
}
