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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.NullMarked;
import picocli.CommandLine;

/** Runs {@code ./dist} with the classes on this JVM's class path, so that nothing is compiled. */
public final class Distribution {

  /** The version of the distribution. */
  public static final String VERSION = "0.1.0-SNAPSHOT";

  private static final Path CHECKOUT = Path.of("").toAbsolutePath().getParent();

  private Distribution() {}

  /** Writes a distribution in a format to a folder, and returns what {@code ./dist} printed. */
  public static String write(String format, Path folder) throws Exception {
    Path jars = folder.resolve("jars");
    if (!Files.exists(jars)) {
      writeJars(Files.createDirectories(jars));
    }
    Path log = folder.resolve("dist.log");
    Process dist =
        new ProcessBuilder(
                CHECKOUT.resolve("dist").toString(),
                format,
                "--to",
                folder.toString(),
                "--jars",
                jars.toString())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    assertThat(dist.waitFor(10, TimeUnit.MINUTES)).isTrue();
    assertThat(dist.exitValue()).as(Files.readString(log)).isZero();
    return Files.readString(log);
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
