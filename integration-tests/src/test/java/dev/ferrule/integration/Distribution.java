// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.Gson;
import dev.ferrule.Ferrule;
import dev.ferrule.posix.Posix;
import dev.ferrule.rdma.context.RdmaAddress;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.support.Lifecycle;
import dev.ferrule.tools.Main;
import dev.ferrule.verbs.VerbsException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.NullMarked;
import picocli.CommandLine;

/** Runs {@code ./dist} with the classes on this JVM's class path, so that nothing is compiled. */
public final class Distribution {

  /** The folder of the sources. */
  public static final Path CHECKOUT = Page.ROOT;

  /** The version of the distribution. */
  public static final String VERSION = version();

  private Distribution() {}

  private static String version() {
    try {
      return Pattern.compile("(?m)^  <version>(.*)</version>$")
          .matcher(Files.readString(CHECKOUT.resolve("pom.xml")))
          .results()
          .map(version -> version.group(1))
          .findFirst()
          .orElseThrow();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Writes the distribution in some formats to a folder. */
  public static void write(Path folder, String... formats) throws Exception {
    Path jars = folder.resolve("jars");
    if (!Files.exists(jars)) {
      writeJars(Files.createDirectories(jars));
    }
    Path log = folder.resolve("dist.log");
    List<String> command = new ArrayList<>(List.of(CHECKOUT.resolve("dist").toString()));
    command.addAll(List.of(formats));
    command.addAll(List.of("--to", folder.toString(), "--jars", jars.toString()));
    Process dist =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    assertThat(dist.waitFor(10, TimeUnit.MINUTES)).isTrue();
    assertThat(dist.exitValue()).as(Files.readString(log)).isZero();
  }

  /** Returns the file in a folder with a name that begins and ends like this. */
  public static Path file(Path folder, String begin, String end) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith(begin))
          .filter(file -> file.toString().endsWith(end))
          .findFirst()
          .orElseThrow();
    }
  }

  private static void writeJars(Path jars) throws Exception {
    Map<String, Class<?>> artifacts = new LinkedHashMap<>();
    artifacts.put("ferrule-api", Ferrule.class);
    artifacts.put("ferrule-posix", Posix.class);
    artifacts.put("ferrule-provider-support", Lifecycle.class);
    artifacts.put("ferrule-rdma", RdmaAddress.class);
    artifacts.put("ferrule-verbs", VerbsException.class);
    artifacts.put("ferrule-tools", Main.class);
    ServiceLoader.load(ConnectionProvider.class).stream()
        .map(ServiceLoader.Provider::get)
        .forEach(
            provider -> artifacts.put("ferrule-spi-" + provider.scheme(), provider.getClass()));
    assertThat(artifacts)
        .containsKeys("ferrule-spi-sm", "ferrule-spi-sendrecv", "ferrule-spi-magicring");
    for (Map.Entry<String, Class<?>> artifact : artifacts.entrySet()) {
      writeJar(
          jars.resolve(artifact.getKey() + "-" + VERSION + ".jar"), place(artifact.getValue()));
    }
    for (Class<?> library :
        new Class<?>[] {CommandLine.class, Gson.class, Histogram.class, NullMarked.class}) {
      Path jar = place(library);
      Files.copy(jar, jars.resolve(jar.getFileName()));
    }
  }

  private static Path place(Class<?> type) throws Exception {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  /** Writes a module's jar from the jar or the folder of classes of this JVM's class path. */
  private static void writeJar(Path jar, Path classes) throws IOException {
    if (Files.isRegularFile(classes)) {
      Files.copy(classes, jar);
      return;
    }
    Path manifest = jar.resolveSibling("manifest");
    Files.writeString(manifest, "Implementation-Version: " + VERSION + "\n");
    int code =
        ToolProvider.findFirst("jar")
            .orElseThrow()
            .run(
                System.out,
                System.err,
                "--create",
                "--file",
                jar.toString(),
                "--manifest",
                manifest.toString(),
                "-C",
                classes.toString(),
                ".");
    assertThat(code).isZero();
    Files.delete(manifest);
  }
}
