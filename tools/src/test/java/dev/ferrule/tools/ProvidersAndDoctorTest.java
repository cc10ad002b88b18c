// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.ferrule.Ferrule;
import dev.ferrule.StandardOptions;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

class ProvidersAndDoctorTest {

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
  void providersWritesTheSameInJson() {
    Run run = Run.of("providers", "--json");
    assertThat(run.exitCode()).isZero();
    JsonArray providers = new Gson().fromJson(run.out(), JsonArray.class);
    assertThat(providers.size()).isEqualTo(Ferrule.providers().size());
    JsonObject sm = find(providers, "scheme", "sm");
    assertThat(sm.get("available").getAsBoolean()).isTrue();
    assertThat(sm.has("reason")).isFalse();
    JsonObject wait = find(sm.getAsJsonArray("options"), "name", StandardOptions.WAIT.name());
    assertThat(wait.get("default").getAsString()).isEqualTo("adaptive");
  }

  @Test
  void doctorChecksEverythingAndOffersAFixForEachProblem() {
    Run run = Run.of("doctor", "--json");
    assertThat(run.exitCode()).isZero(); // sm works wherever this is tested
    JsonArray findings = new Gson().fromJson(run.out(), JsonArray.class);
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
        find(new Gson().fromJson(Run.of("doctor", "--json").out(), JsonArray.class), "name", "CMA");
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

  private static JsonObject find(JsonArray array, String key, String value) {
    return StreamSupport.stream(array.spliterator(), false)
        .map(JsonElement::getAsJsonObject)
        .filter(object -> object.get(key).getAsString().equals(value))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + key + " " + value + " in " + array));
  }
}
