// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.ferrule.Ferrule;
import dev.ferrule.StandardOptions;
import dev.ferrule.tools.support.ExitCode;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProvidersAndDoctorTest {

  @TempDir private Path folder;

  @Test
  void providersListsEveryProviderWithEveryOption() {
    Run run = Run.of("providers");
    assertThat(run.exitCode()).isZero();
    Ferrule.providers()
        .forEach(provider -> {
          assertThat(run.out()).contains(provider.scheme() + " - " + provider.description());
          assertThat(run.out()).contains("address: " + provider.exampleAddress());
          provider
              .options()
              .forEach(option ->
                  assertThat(run.out()).contains(option.name() + "=" + option.defaultText()));
        });
  }

  @Test
  void providersNamesTheOptionsThatAQueryCannotOverride() {
    assertThat(Run.of("providers").out().lines())
        .filteredOn(line -> line.contains("a query cannot override"))
        .singleElement(STRING)
        .contains("the permitted peers");
  }

  @Test
  void providersWritesTheSameInJson() {
    Run run = Run.of("providers", "--json");
    assertThat(run.exitCode()).isZero();
    JsonArray providers = run.document().getAsJsonArray("results");
    assertThat(providers.size()).isEqualTo(Ferrule.providers().size());
    JsonObject sm = find(providers, "scheme", "sm");
    assertThat(sm.get("available").getAsBoolean()).isTrue();
    assertThat(sm.has("reason")).isFalse();
    JsonObject wait = find(sm.getAsJsonArray("options"), "name", StandardOptions.WAIT.name());
    assertThat(wait.get("default").getAsString()).isEqualTo("adaptive");
    assertThat(wait.get("query_overrides").getAsBoolean()).isTrue();
    JsonObject access = find(sm.getAsJsonArray("options"), "name", "access");
    assertThat(access.get("query_overrides").getAsBoolean()).isFalse();
  }

  /** The same classes as this test's, without the modules of the providers. */
  @ParameterizedTest
  @ValueSource(strings = {"providers", "providers --json"})
  void withoutAProviderOneIsNamedAndStandardOutputIsEmpty(String line) throws Exception {
    List<URL> path = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      if (!entry.matches(".*/(ferrule-)?spi-(sm|sendrecv|magicring)[-/].*")) {
        path.add(Path.of(entry).toUri().toURL());
      }
    }
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    Thread thread = Thread.currentThread();
    ClassLoader own = thread.getContextClassLoader();
    try (URLClassLoader loader =
        new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
      thread.setContextClassLoader(loader);
      Object code =
          loader
              .loadClass(Main.class.getName())
              .getMethod("run", PrintWriter.class, PrintWriter.class, String[].class)
              .invoke(null, new PrintWriter(out), new PrintWriter(err, true), line.split(" "));
      assertThat(code).as(err.toString()).isEqualTo(ExitCode.NO_PROVIDER);
    } finally {
      thread.setContextClassLoader(own);
    }
    assertThat(out.toString()).isEmpty();
    assertThat(err.toString())
        .isEqualTo(
            "ferrule: no providers on the class path or module path; add one, such as"
                + " dev.ferrule:ferrule-spi-sm\n");
  }

  @Test
  void doctorChecksEverythingAndOffersAFixForEachProblem() {
    Run run = Run.of("doctor", "--json");
    assertThat(run.exitCode()).isZero(); // sm works wherever this is tested
    JsonArray findings = run.document().getAsJsonArray("results");
    for (String name :
        new String[] {
          "java",
          "provider sm",
          "processors",
          "shared memory",
          "CMA",
          "KNEM",
          "RDMA libraries",
          "RDMA device",
          "locked memory"
        }) {
      assertThat(find(findings, "name", name).get("text").getAsString()).as(name).isNotBlank();
    }
    for (JsonElement element : findings) {
      JsonObject finding = element.getAsJsonObject();
      assertThat(finding.get("status").getAsString()).isIn("ok", "warn", "missing");
      if (finding.get("status").getAsString().equals("missing")) {
        assertThat(finding.get("fix").getAsString()).isNotBlank();
      }
    }
  }

  @Test
  void doctorReadsTheMemoryOfAnotherProcessOrReportsWhyItCannot() {
    JsonObject cma =
        find(Run.of("doctor", "--json").document().getAsJsonArray("results"), "name", "CMA");
    if (cma.get("status").getAsString().equals("ok")) {
      assertThat(cma.get("text").getAsString()).contains("process_vm_readv");
    } else {
      assertThat(cma.get("text").getAsString()).containsAnyOf("EPERM", "ESRCH", "ENOSYS");
      assertThat(cma.get("fix").getAsString()).isNotBlank();
    }
  }

  @Test
  void doctorPrintsOneLineForEachFindingAndOneForEachFix() {
    Run run = Run.of("doctor");
    assertThat(run.out().lines())
        .allMatch(line -> line.matches("(ok|warn|missing) +[^ ].*|  +fix: .*"));
  }

  @Test
  void doctorReportsOnRdmaWithoutADevice() throws IOException {
    assumeThat(Path.of("/sys/class/infiniband"))
        .as("this machine has an RDMA device")
        .satisfiesAnyOf(
            devices -> assertThat(devices).doesNotExist(),
            devices -> assertThat(devices).isEmptyDirectory());
    Path report = folder.resolve("report.txt");
    Run run = Run.of("doctor", "--rdma", "--out", report.toString());
    assertThat(run.exitCode()).isEqualTo(ExitCode.NO_PROVIDER);
    assertThat(run.out().lines())
        .anyMatch(line -> line.matches("ok +version +exit code 0, .* s"))
        .anyMatch(line -> line.matches("ok +doctor +exit code 0, .* s"))
        .anyMatch(line -> line.matches("missing +RDMA .*"))
        .anyMatch(line -> line.matches(" +fix: .*"))
        .last()
        .asString()
        .startsWith("the report is in " + report + ": send it ");
    assertThat(report)
        .content()
        .contains("device none that works")
        .contains("$ ferrule --version\nferrule ")
        .containsPattern("\\$ ferrule doctor\n(?s:.*)provider sm ")
        .contains("the commands that need a device were not run\nmissing ");
  }

  @Test
  void outNeedsRdmaAndJsonIsNotSupportedWithIt() {
    assertThat(Run.of("doctor", "--out", "file").err()).contains("--out needs --rdma");
    assertThat(Run.of("doctor", "--rdma", "--json").exitCode()).isEqualTo(ExitCode.USAGE);
  }

  private static JsonObject find(JsonArray array, String key, String value) {
    return StreamSupport.stream(array.spliterator(), false)
        .map(JsonElement::getAsJsonObject)
        .filter(object -> object.get(key).getAsString().equals(value))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + key + " " + value + " in " + array));
  }
}
