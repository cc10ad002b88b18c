// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import dev.ferrule.lab.compare.CompareCommand;
import dev.ferrule.tools.Main;
import dev.ferrule.tools.ParsedCommand;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** Runs {@code ferrule} or {@code compare} as a page shows it, with fewer messages and rounds. */
public final class LittleEffort {

  /** The values of options with which a command measures little. */
  private static final Map<String, String> LITTLE =
      new LinkedHashMap<>(Map.of("--messages", "200", "--warmup", "100", "--rounds", "1"));

  private LittleEffort() {}

  /** The first argument is the name of the program. */
  public static void main(String[] arguments) {
    List<String> rest = List.of(arguments).subList(1, arguments.length);
    switch (arguments[0]) {
      case "ferrule" -> Main.main(ferrule(rest));
      case "compare" -> CompareCommand.main(compare(rest));
      default -> throw new IllegalArgumentException(arguments[0]);
    }
  }

  /** Returns the arguments of {@code ferrule} for little effort. */
  public static String[] ferrule(List<String> arguments) {
    List<String> changed = new ArrayList<>(arguments);
    String name = arguments.getFirst();
    Map<String, String> values = new LinkedHashMap<>();
    if (name.equals("evaluate")) {
      values.putAll(Map.of("--messages", "100", "--rounds", "1", "--only", "latency"));
      if (!arguments.contains("--provider")) {
        values.put("--provider", "sm");
      }
      if (arguments.contains("--only")) {
        values.remove("--only");
      }
    } else if (!name.startsWith("-")) {
      CommandLine command =
          ParsedCommand.of(arguments.toArray(String[]::new)).getSubcommands().get(name);
      CommandSpec spec = command.getCommandSpec();
      LITTLE.forEach((option, value) -> {
        if (spec.findOption(option) != null) {
          values.put(option, value);
        }
      });
      if (command.getParseResult().hasMatchedOption("--duration")) {
        values.remove("--messages"); // the two exclude each other
      }
    }
    return with(changed, values);
  }

  /** Returns the arguments of {@code compare} for little effort. */
  static String[] compare(List<String> arguments) {
    List<String> changed = new ArrayList<>(arguments);
    Map<String, String> values = new LinkedHashMap<>(Map.of("--rounds", "1", "--size", "64"));
    if (!changed.contains("--only")) {
      values.put("--only", "floor,sm");
    }
    if (!changed.contains("--measure")) {
      values.put("--measure", "latency");
    }
    return with(changed, values);
  }

  private static String[] with(List<String> arguments, Map<String, String> values) {
    for (Entry<String, String> each : values.entrySet()) {
      int index = arguments.indexOf(each.getKey());
      if (index >= 0) {
        arguments.set(index + 1, each.getValue());
      } else {
        arguments.add(each.getKey());
        arguments.add(each.getValue());
      }
    }
    return arguments.toArray(String[]::new);
  }
}
