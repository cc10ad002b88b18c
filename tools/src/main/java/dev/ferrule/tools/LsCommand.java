// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import com.google.gson.JsonObject;
import dev.ferrule.spi.EndpointInfo;
import dev.ferrule.spi.EndpointRegistry;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.Guarded;
import dev.ferrule.tools.support.Screen;
import dev.ferrule.tools.support.TextTable;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Stack;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.IParameterConsumer;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Lists the endpoints in a directory. */
@Command(
    name = "ls",
    mixinStandardHelpOptions = true,
    description = {
      "Lists the shared-memory endpoints in a directory: whether their processes are alive, what"
          + " they are, and how much memory they occupy.",
      "A directory that does not exist has no endpoints, as the last process that uses one removes"
          + " it: the exit code is 0, and standard error has 'no such directory'.",
      ""
    },
    footer = {"", "Examples:", "  ferrule ls /dev/shm/app", "  ferrule ls --watch /dev/shm/app"})
final class LsCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Mixin private EndpointsOperand operand = new EndpointsOperand();

  @Option(names = "--json", description = "Write JSON, as docs/json.md specifies.")
  private boolean json;

  @Option(
      names = "--watch",
      arity = "0..1",
      paramLabel = "TIME",
      parameterConsumer = OptionalInterval.class,
      description =
          "Repeat the list at an interval, such as 5 or 500ms, until the key q or Ctrl-C. Default:"
              + " 2.")
  private @Nullable Duration watch;

  /** Takes the text after {@code =}, or the next word if it is a time and not the path. */
  static final class OptionalInterval implements IParameterConsumer {

    private static final String DEFAULT = "2";
    private static final String NAME = "--watch=";

    @Override
    public void consumeParameters(Stack<String> words, ArgSpec option, CommandSpec command) {
      boolean given =
          !words.isEmpty()
              && (words.peek().matches("\\d+(ms|s)?|" + Values.Time.DECIMAL)
                  || command
                      .commandLine()
                      .getParseResult()
                      .originalArgs()
                      .contains(NAME + words.peek()));
      String text = given ? words.pop() : DEFAULT;
      try {
        option.setValue(new Values.Time().convert(text));
      } catch (TypeConversionException e) {
        throw new ParameterException(command.commandLine(), "--watch: " + e.getMessage());
      }
    }
  }

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    if (watch != null) {
      watch(out, watch);
    } else if (json) {
      JsonDocument document = new JsonDocument("ferrule.ls/1", Instant.now());
      list().forEach(endpoint -> document.results().add(toJson(endpoint)));
      out.print(document.format());
    } else {
      out.print(toTable(list()));
    }
    return ExitCode.OK;
  }

  private List<EndpointInfo> list() {
    return operand.perform(EndpointRegistry::list);
  }

  private void watch(PrintWriter out, Duration interval) {
    if (json) {
      throw new ParameterException(
          spec.commandLine(), "--json writes one document; remove --watch");
    }
    Values.checkInterval(spec, "--watch", interval);
    try (Guarded<Screen> guard = Screen.on(out)) {
      Screen screen = guard.get();
      do {
        screen.show(toTable(list()));
      } while (screen.await(interval));
    }
  }

  /** Formats the endpoints; used for those that {@code ferrule clean} has removed, too. */
  static String toTable(List<EndpointInfo> endpoints) {
    return toTable(endpoints, LsCommand::state);
  }

  private static String state(EndpointInfo endpoint) {
    return endpoint.state().name().toLowerCase(Locale.ROOT);
  }

  /** Formats the endpoints, with a text for the state of each. */
  static String toTable(List<EndpointInfo> endpoints, Function<EndpointInfo, String> state) {
    if (endpoints.isEmpty()) {
      return "no endpoints\n";
    }
    TextTable table = new TextTable();
    table.cells("state", "connections", "KiB", "endpoint", "description");
    table.endRow();
    for (EndpointInfo endpoint : endpoints) {
      table.cells(
          state.apply(endpoint),
          Integer.toString(endpoint.connections()),
          Long.toString(endpoint.bytes() >> 10),
          endpoint.address().toString(),
          endpoint.description());
      table.endRow();
    }
    return table.toString();
  }

  /** Returns an endpoint as JSON. */
  static JsonObject toJson(EndpointInfo endpoint) {
    JsonObject object = new JsonObject();
    object.addProperty("address", endpoint.address().toString());
    object.addProperty("state", state(endpoint));
    object.addProperty("description", endpoint.description());
    object.addProperty("connections", endpoint.connections());
    object.addProperty("memory_bytes", endpoint.bytes());
    return object;
  }
}
