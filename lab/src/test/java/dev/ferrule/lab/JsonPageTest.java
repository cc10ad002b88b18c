// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import dev.ferrule.lab.compare.CompareCommand;
import dev.ferrule.lab.compare.Comparison;
import dev.ferrule.lab.compare.ComparisonJson;
import dev.ferrule.lab.compare.Figure;
import dev.ferrule.lab.compare.competitor.Measure;
import dev.ferrule.tools.JsonPage;
import dev.ferrule.tools.Run;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** docs/json.md lists exactly the fields that {@code model} and {@code compare} print. */
@Tag("long")
class JsonPageTest {

  private static final String PARAMETERS =
      "{\"L\": 1900, \"G\": 0.08, \"g_snd\": 30, \"o_snd\": 120, \"o_nsnd\": 60, \"o_nrcv\": 70,"
          + " \"o_rcv\": 50, \"g_rcv\": 16, \"o_bell\": 100}";

  private static final OptionalDouble KNOWN = OptionalDouble.of(1.5);

  private static JsonPage page;

  @TempDir Path folder;

  @BeforeAll
  static void read() throws IOException {
    page = JsonPage.read();
  }

  private String model(String provider, String... command) throws IOException {
    Path file = folder.resolve("params.json");
    Files.writeString(
        file,
        "{\"providers\": [{\"provider\": \"%s\", \"note\": \"edited\", \"parameters\": %s}]}"
            .formatted(provider, PARAMETERS));
    for (int i = 0; i < command.length; i++) {
      command[i] = command[i].equals("evaluation/params.json") ? file.toString() : command[i];
    }
    Run run = Run.of(command);
    assertThat(run.err()).isEmpty();
    return run.out();
  }

  private static JsonObject parsed(String document) {
    return new Gson().fromJson(document, JsonObject.class);
  }

  @Test
  void model() throws Exception {
    JsonPage.Example example = page.example("ferrule.model/1");
    String[] command = example.command().replace("./ferrule ", "").split(" ");
    String sendrecv = model("sendrecv", command.clone());

    page.assertDescribes("ferrule.model/1", parsed(sendrecv), parsed(model("sm", command.clone())));
    assertThat(example.filtered(sendrecv).lines()).isNotEmpty();
  }

  @Test
  void compare() throws Exception {
    JsonPage.Example example = page.example("ferrule.compare/1");
    String command =
        example.command().replace("./compare ", "")
            + " --only=floor,sm,unix --measure=latency,rate --size=64 --rounds=1";
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code = CompareCommand.run(new PrintWriter(out), new PrintWriter(err), command.split(" "));

    assertThat(code).as(err.toString()).isZero();
    page.assertDescribes("ferrule.compare/1", parsed(out.toString()), parsed(moved()));
    assertThat(example.filtered(out.toString()).lines()).isNotEmpty();
  }

  /** Returns a comparison on a machine whose host moves processors, and without one competitor. */
  private static String moved() {
    Figure figure =
        new Figure(Measure.WAKE_UP, 64, "unix", 9e3, KNOWN, 1, KNOWN, true, KNOWN, KNOWN);
    return ComparisonJson.format(
        new Comparison(
            "sm",
            Instant.EPOCH,
            1,
            List.of(new Comparison.CompetitorInfo("ucx", "none", "not installed")),
            List.of(figure),
            KNOWN,
            KNOWN));
  }
}
