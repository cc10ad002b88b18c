// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import com.google.gson.JsonObject;
import dev.ferrule.spi.EndpointInfo;
import dev.ferrule.spi.EndpointRegistry;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.TextTable;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Lists the endpoints in a directory. */
@Command(
    name = "ls",
    mixinStandardHelpOptions = true,
    description = {
      "Lists the shared-memory endpoints in a directory: whether their processes are alive, what"
          + " they are, and how much memory they occupy.",
      ""
    },
    footer = {"", "Example: ferrule ls /dev/shm/app"})
final class LsCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Mixin private EndpointsOperand operand = new EndpointsOperand();

  @Option(names = "--json", description = "Write JSON.")
  private boolean json;

  @Override
  public Integer call() {
    Instant start = Instant.now();
    List<EndpointInfo> endpoints = operand.perform(EndpointRegistry::list);
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.print(toJson(start, endpoints));
    } else {
      out.print(toTable(endpoints));
    }
    return ExitCode.OK;
  }

  /** Formats the endpoints; used for those that {@code ferrule clean} has removed, too. */
  static String toTable(List<EndpointInfo> endpoints) {
    if (endpoints.isEmpty()) {
      return "no endpoints\n";
    }
    TextTable table = new TextTable();
    table.cells("state", "connections", "KiB", "endpoint", "description");
    table.endRow();
    for (EndpointInfo endpoint : endpoints) {
      table.cells(
          endpoint.state().name().toLowerCase(Locale.ROOT),
          Integer.toString(endpoint.connections()),
          Long.toString(endpoint.bytes() >> 10),
          endpoint.address().toString(),
          endpoint.description());
      table.endRow();
    }
    return table.toString();
  }

  private static String toJson(Instant start, List<EndpointInfo> endpoints) {
    JsonDocument document = new JsonDocument("ferrule.ls/1", start);
    for (EndpointInfo endpoint : endpoints) {
      JsonObject object = new JsonObject();
      object.addProperty("address", endpoint.address().toString());
      object.addProperty("state", endpoint.state().name().toLowerCase(Locale.ROOT));
      object.addProperty("description", endpoint.description());
      object.addProperty("connections", endpoint.connections());
      object.addProperty("memory_bytes", endpoint.bytes());
      document.results().add(object);
    }
    return document.format();
  }
}
