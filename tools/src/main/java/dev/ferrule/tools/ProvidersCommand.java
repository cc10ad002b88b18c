// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.ferrule.Availability.Unavailable;
import dev.ferrule.Ferrule;
import dev.ferrule.ProviderInfo;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Lists the transports with their options. */
@Command(
    name = "providers",
    mixinStandardHelpOptions = true,
    description = {
      "Lists the installed transports, whether each works on this machine, and the options of its"
          + " connections.",
      ""
    },
    footer = {
      "",
      "Example: ferrule providers --json | jq -r '.results[] | select(.available) | .scheme'"
    })
final class ProvidersCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Option(names = "--json", description = "Write JSON, as docs/json.md specifies.")
  private boolean json;

  @Override
  public Integer call() {
    Instant start = Instant.now();
    List<ProviderInfo> providers = Ferrule.providers();
    if (providers.isEmpty()) {
      throw new ToolException(
          ExitCode.NO_PROVIDER,
          "no providers on the class path or module path; add one, such as"
              + " dev.ferrule:ferrule-spi-sm");
    }
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.print(toJson(start, providers));
    } else {
      providers.forEach(provider -> print(out, provider));
    }
    return ExitCode.OK;
  }

  private static void print(PrintWriter out, ProviderInfo provider) {
    out.println(provider.scheme() + " - " + provider.description());
    if (provider.availability() instanceof Unavailable(String reason, String remedy)) {
      out.println("  does not work on this machine: " + reason);
      out.println("  fix: " + remedy);
    } else {
      out.println("  works on this machine");
    }
    out.println("  address: " + provider.exampleAddress());
    out.println("  options:");
    for (dev.ferrule.Option<?> option : provider.options()) {
      out.println("    " + option.name() + "=" + option.defaultText());
      out.println("        " + option.description() + "; " + option.syntax() + precedence(option));
    }
    out.println();
  }

  private static String precedence(dev.ferrule.Option<?> option) {
    return option.queryOverrides() ? "" : "; a query cannot override the program's own value";
  }

  static String toJson(Instant start, List<ProviderInfo> providers) {
    JsonDocument document = new JsonDocument("ferrule.providers/1", start);
    for (ProviderInfo provider : providers) {
      JsonObject object = new JsonObject();
      object.addProperty("scheme", provider.scheme());
      object.addProperty("description", provider.description());
      object.addProperty("example", provider.exampleAddress());
      object.addProperty("available", provider.availability().available());
      if (provider.availability() instanceof Unavailable(String reason, String remedy)) {
        object.addProperty("reason", reason);
        object.addProperty("remedy", remedy);
      }
      JsonArray options = new JsonArray();
      for (dev.ferrule.Option<?> option : provider.options()) {
        JsonObject entry = new JsonObject();
        entry.addProperty("name", option.name());
        entry.addProperty("default", option.defaultText());
        entry.addProperty("syntax", option.syntax());
        entry.addProperty("description", option.description());
        entry.addProperty("query_overrides", option.queryOverrides());
        options.add(entry);
      }
      object.add("options", options);
      document.results().add(object);
    }
    return document.format();
  }
}
