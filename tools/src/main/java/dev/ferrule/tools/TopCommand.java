// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Guarded;
import dev.ferrule.tools.support.Screen;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Shows what the connections in a directory do. */
@Command(
    name = "top",
    mixinStandardHelpOptions = true,
    description = {
      "Shows the shared-memory endpoints in a directory and what each side of their connections"
          + " does per second: messages and bytes in both directions, sends that found no space"
          + " (stalls), how often a thread fell asleep (sleeps) and woke the peer (wakes), and how"
          + " full the ring is into which it sends. The busiest connections are first.",
      "",
      "The processes report their own counters when this command asks for them; a process of"
          + " another user does not. The key q or Ctrl-C ends the command. On a terminal, lines are"
          + " cut at its width; the connection is first.",
      "",
      "A directory that does not exist has no endpoints, as the last process that uses one removes"
          + " it: the exit code is 0, and standard error has 'no such directory'.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  ferrule top /dev/shm/app",
      "  ferrule top --once --json --interval 10 /dev/shm/app"
    })
final class TopCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Mixin private EndpointsOperand operand = new EndpointsOperand();

  @Option(
      names = {"-i", "--interval"},
      paramLabel = "TIME",
      defaultValue = "1",
      converter = Values.Time.class,
      description =
          "Time between two samples, from which the rates are: 5, 0.5 or 500ms; at least 100ms."
              + " Default: 1.")
  private Duration interval = Duration.ofSeconds(1);

  @Option(names = "--once", description = "Print the rates over one interval, and end.")
  private boolean once;

  @Option(names = "--json", description = "Write JSON, as docs/json.md specifies; needs --once.")
  private boolean json;

  @Override
  public Integer call() {
    if (json && !once) {
      throw new ParameterException(spec.commandLine(), "--json needs --once");
    }
    Values.checkInterval(spec, "--interval", interval);
    Instant start = Instant.now();
    try (Guarded<Screen> guard = Screen.on(spec.commandLine().getOut())) {
      Screen screen = guard.get();
      EndpointActivity before = read();
      while (screen.await(interval)) {
        EndpointActivity now = read();
        List<ConnectionRates> rates = now.since(before);
        before = now;
        if (json) {
          JsonDocument document = new JsonDocument("ferrule.top/1", start);
          document.properties().addProperty("interval_s", interval.toMillis() / 1e3);
          now.addTo(document, rates);
          spec.commandLine().getOut().print(document.format());
        } else if (once) {
          spec.commandLine().getOut().print(now.toTables(rates, Integer.MAX_VALUE));
        } else {
          screen.show(now.toTables(rates, screen.height()));
        }
        if (once) {
          break;
        }
      }
    }
    return ExitCode.OK;
  }

  private EndpointActivity read() {
    return operand.perform(EndpointActivity::read, EndpointActivity.NONE);
  }
}
