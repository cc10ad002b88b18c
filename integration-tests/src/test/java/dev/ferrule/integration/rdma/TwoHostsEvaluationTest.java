// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.ferrule.integration.rdma.PeerAgent.RemoteProcess;
import dev.ferrule.tools.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code ferrule evaluate} between two hosts. */
@Tag("rdma-two")
@Order(1) // TwoHostsTest ends the other host
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TwoHostsEvaluationTest {

  private static final String TOKEN = " --token the-secret-of-this-test ";

  @TempDir private Path folder;

  @Test
  void theReportOfAnEvaluationBetweenTwoHostsDescribesBoth() throws IOException {
    String peer = System.getenv("FERRULE_RXE_PEER");
    Path report = folder.resolve("report");
    StringWriter errors = new StringWriter();
    try (RemoteProcess serving =
        RemoteProcess.start(
            Main.class, ("serve --for-evaluation " + peer + ":0" + TOKEN).trim().split(" +"))) {
      String line =
          "evaluate --provider sendrecv --quick --only inline --rounds 1 --messages 50 --server "
              + serving.line()
              + TOKEN
              + "--out "
              + report;
      int code =
          Main.run(
              new PrintWriter(new StringWriter()), new PrintWriter(errors, true), line.split(" +"));
      assertThat(code).as(errors.toString()).isZero();
    }
    JsonObject results =
        new Gson().fromJson(Files.readString(report.resolve("results.json")), JsonObject.class);
    JsonArray measured = results.getAsJsonArray("results");
    assertThat(measured).as(errors.toString()).isNotEmpty();
    for (JsonElement element : measured) {
      JsonObject result = element.getAsJsonObject().getAsJsonObject("result");
      assertThat(result.get("p50_ns").getAsDouble()).as("%s", element).isPositive();
    }
    JsonObject other = results.getAsJsonObject("machine").getAsJsonObject("host of the servers");
    assertThat(other.get("RDMA devices").getAsString()).isNotEqualTo("none");
    assertThat(Files.readString(report.resolve("report.html")))
        .contains("The host that measures", "The host of the servers");
  }
}
