// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.integration.LittleEffort;
import dev.ferrule.integration.PageCommand;
import dev.ferrule.tools.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The commands of the pages that need a device, with fewer messages and rounds, and with the
 * address of the device instead of that of the page. {@code PageCommandsTest} runs the others.
 */
@RdmaTest
@Timeout(value = 600, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PageCommandsDeviceTest {

  private static final Pattern FERRULE =
      Pattern.compile("(\\./with-rxe )?(?:\\./)?ferrule ([^|;&']+)");

  private static final Pattern ADDRESS = Pattern.compile("(\\w+)://\\S+");

  /** The processors of an emulated machine are slow, and the device needs one of them. */
  private static final List<String> WAITING = List.of("--wait", "adaptive", "--no-pin");

  /**
   * A measurement of a page.
   *
   * @param server the arguments of the server in the same block; empty if the client starts it
   * @param client the arguments of the other command
   */
  record Measurement(String server, String client) {}

  /** Returns the commands of all pages; one that several pages show is returned once. */
  static Set<Measurement> measurements() throws IOException {
    Set<Measurement> measurements = new LinkedHashSet<>();
    for (List<PageCommand> block : PageCommand.blocks()) {
      String server = "";
      for (PageCommand command : block) {
        Optional<String> arguments = onDevice(command);
        if (arguments.isPresent() && arguments.get().startsWith("serve ")) {
          server = arguments.get();
        } else if (arguments.isPresent()) {
          boolean hasAddress = ADDRESS.matcher(arguments.get()).find();
          measurements.add(new Measurement(hasAddress ? server : "", arguments.get()));
        }
      }
    }
    return measurements;
  }

  private static Optional<String> onDevice(PageCommand command) {
    Matcher matcher = FERRULE.matcher(command.text());
    return matcher.matches()
            && PageCommand.isRunOnDevice(
                List.of(matcher.group(2).split(" +")), matcher.group(1) != null)
        ? Optional.of(matcher.group(2))
        : Optional.empty();
  }

  @ParameterizedTest
  @MethodSource("measurements")
  void aCommandOfAPageRunsOnTheDevice(Measurement measurement) {
    if (measurement.server().isEmpty()) {
      run(measurement.client());
      return;
    }
    List<String> options = new ArrayList<>(List.of(measurement.server().split(" +")));
    String scheme = options.removeLast().replaceFirst(":.*", "");
    options.addAll(WAITING);
    options.addAll(List.of(Serving.PATIENT.trim().split(" ")));
    try (Serving server = Serving.start(scheme, options.subList(1, options.size()))) {
      run(ADDRESS.matcher(measurement.client()).replaceAll(server.uri().toString()));
    }
  }

  private static void run(String arguments) {
    List<String> line =
        new ArrayList<>(List.of(LittleEffort.ferrule(List.of(arguments.split(" +")))));
    if (line.getFirst().equals("rma")) { // emulated processors copy each byte of long accesses
      line.set(line.indexOf("--messages") + 1, "10");
      line.set(line.indexOf("--warmup") + 1, "5");
    }
    if (!line.getFirst().equals("doctor")) {
      line.addAll(WAITING);
      line.addAll(List.of(Serving.PATIENT.trim().split(" ")));
    }
    StringWriter output = new StringWriter();
    StringWriter errors = new StringWriter();
    int code =
        Main.run(
            new PrintWriter(output), new PrintWriter(errors, true), line.toArray(String[]::new));
    assertThat(code).as(errors.toString()).isZero();
    assertThat(output.toString()).isNotBlank();
  }
}
