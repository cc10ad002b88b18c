// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.containers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ferrule.integration.Distribution;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The container image and the Debian package that {@code ./dist} writes, by the commands of
 * docs/install.md. No container has a network, and no image is from a registry.
 */
class DistContainersTest extends ContainerTest {

  private static final String NAME = "ferrule-dist-" + UUID.randomUUID();
  private static final String IMAGE = NAME + "-image";
  private static final String DEBIAN = NAME + "-debian";
  private static final String OTHER_BASE = NAME + "-other-base";

  @TempDir private static Path folder;

  /** The result of a command. */
  private record Ended(int exitCode, String out, String err) {}

  /** A command that runs, with the files of its output. */
  private record Running(Process process, Path out, Path err) {

    Ended await() throws Exception {
      try {
        assertThat(process.waitFor(3, TimeUnit.MINUTES)).isTrue();
      } finally {
        process.destroy();
      }
      return new Ended(process.exitValue(), Files.readString(out), Files.readString(err));
    }
  }

  @BeforeAll
  static void build() throws Exception {
    Distribution.write(folder, "tar", "deb", "image");
    Path context =
        Distribution.file(folder, "ferrule-" + Distribution.VERSION + "-image-", ".tar.gz");
    assertSucceeds(start(context, "docker", "build", "-q", "-t", IMAGE, "--label", label(), "-"));
  }

  @AfterAll
  static void remove() throws Exception {
    start(Path.of("/dev/null"), "docker", "image", "rm", "-f", OTHER_BASE, IMAGE, DEBIAN).await();
  }

  private static String label() {
    Map.Entry<String, String> label = SharedVolume.RUN.entrySet().iterator().next();
    return label.getKey() + "=" + label.getValue();
  }

  private static Running start(Path input, String... command) throws Exception {
    Path out = Files.createTempFile(folder, "out", "");
    Path err = Files.createTempFile(folder, "err", "");
    ProcessBuilder builder = new ProcessBuilder(command);
    // The client of the engine's package first: another one may be too new.
    builder.environment().merge("PATH", "", (path, none) -> "/usr/bin:" + path);
    builder.redirectInput(input.toFile());
    Process process = builder.redirectOutput(out.toFile()).redirectError(err.toFile()).start();
    return new Running(process, out, err);
  }

  private static String assertSucceeds(Running running) throws Exception {
    Ended ended = running.await();
    assertThat(ended.exitCode()).as(ended.toString()).isZero();
    return ended.out();
  }

  /** Starts a container that is removed when it ends. */
  private static Running container(Path input, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("docker", "run", "--rm", "-i"));
    command.addAll(List.of("--network", "none", "--label", label()));
    command.addAll(Arrays.asList(arguments));
    return start(input, command.toArray(String[]::new));
  }

  private static Running container(String... arguments) throws Exception {
    return container(Path.of("/dev/null"), arguments);
  }

  @Test
  void theImageRunsTheCommand() throws Exception {
    assertThat(assertSucceeds(container(IMAGE, "--version")))
        .startsWith("ferrule " + Distribution.VERSION);
    assertThat(assertSucceeds(container(IMAGE, "doctor")))
        .containsPattern("ok +java .* in /opt/ferrule/lib/runtime, native access enabled\n")
        .containsPattern("ok +provider sm ");
    assertThat(
            assertSucceeds(container(IMAGE, "latency", "--size=8", "--messages=10", "--rounds=1")))
        .containsPattern("(?m)^ +8 +10 ");
  }

  @Test
  void theTimesOfItsFilesFitTheArchiveOfClasses() throws Exception {
    String loaded =
        assertSucceeds(
            container("-e", "FERRULE_JAVA_OPTS=-Xlog:class+load:stdout:none", IMAGE, "--version"));
    assertThat(loaded.lines().filter(line -> line.endsWith("shared objects file")))
        .hasSizeGreaterThan(1000);
  }

  @Test
  void twoContainersExchangeAMessage() throws Exception {
    Path message = Files.writeString(folder.resolve("message"), "from one to the other\n");
    String mount = volume("64m").at(SHARED).getPath() + ":" + SHARED;
    Running listener = container("-v", mount, IMAGE, "listen", ADDRESS);
    assertSucceeds(container(message, "-v", mount, IMAGE, "send", "--retry=60s", ADDRESS));
    assertThat(assertSucceeds(listener)).isEqualTo("from one to the other\n");
  }

  /** The essential packages of this machine stand for the base image of the page. */
  @Test
  void theDockerfileOfThePageBuildsAnImageThatRunsTheCommand() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/dpkg-query")), "not a Debian-like system");
    importDebian();
    String page = Files.readString(Distribution.CHECKOUT.resolve("docs/install.md"));
    Path context = Files.createDirectory(folder.resolve("context"));
    Files.writeString(
        context.resolve("Dockerfile"),
        page.substring(page.indexOf("FROM "), page.indexOf("\n```", page.indexOf("FROM ")))
            .replaceFirst("FROM .*", "FROM " + DEBIAN));
    Path archive = Distribution.file(folder, "ferrule-" + Distribution.VERSION + "-linux-", ".gz");
    Files.copy(archive, context.resolve(archive.getFileName()));
    assertSucceeds(
        start(
            Path.of("/dev/null"),
            "docker",
            "build",
            "-q",
            "-t",
            OTHER_BASE,
            "--label",
            label(),
            context.toString()));
    assertThat(assertSucceeds(container(OTHER_BASE, "latency", "--size=8", "--messages=10")))
        .containsPattern("(?m)^ +8 +10 ");
  }

  private static void importDebian() throws Exception {
    Path root = Files.createTempFile(folder, "root", ".tar");
    Path script = Distribution.CHECKOUT.resolve("build-support/debian-root.sh");
    assertSucceeds(start(Path.of("/dev/null"), script.toString(), root.toString()));
    assertSucceeds(start(root, "docker", "import", "--change", "LABEL " + label(), "-", DEBIAN));
  }

  @Test
  void thePackageIsInstalledRunsAndIsRemovedWithoutLeftovers() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/dpkg-query")), "not a Debian-like system");
    importDebian();
    Path packages = Files.createDirectory(folder.resolve("packages"));
    Files.move(Distribution.file(folder, "ferrule_", ".deb"), packages.resolve("ferrule.deb"));

    String printed =
        assertSucceeds(
            container(
                "-v",
                packages + ":/packages:ro",
                DEBIAN,
                "/bin/bash",
                "-c",
                """
                set -e
                files() {
                  find / -xdev -path /proc -prune -o -path /sys -prune -o -path /dev -prune \
                    -o -path /var/lib/dpkg -prune -o -path /var/log -prune -o -print | sort
                }
                files >/var/log/before
                dpkg -i /packages/*.deb >/var/log/installed
                dpkg -V ferrule
                [ "$(command -v ferrule)" = /usr/bin/ferrule ]
                zcat /usr/share/man/man1/ferrule-latency.1.gz | grep -c 'EXIT STATUS'
                ferrule --version
                ferrule latency --size=8 --messages=10 --rounds=1
                dpkg --purge ferrule >/var/log/purged
                files >/var/log/after
                diff /var/log/before /var/log/after && echo no leftovers
                """));
    assertThat(printed)
        .startsWith("1\nferrule " + Distribution.VERSION)
        .containsPattern("(?m)^ +8 +10 ")
        .endsWith("no leftovers\n");
  }
}
