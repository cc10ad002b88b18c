// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Option;

/** Connection and listener options by name, for every command that connects or listens. */
final class EndpointOptions {

  /** The environment variable with defaults of the options. */
  static final String VARIABLE = "FERRULE_OPTIONS";

  @Option(
      names = {"-o", "--option"},
      paramLabel = "NAME=VALUE",
      description =
          "A connection option, as in the query of a URI; 'ferrule providers' lists them. The"
              + " environment variable "
              + VARIABLE
              + " has defaults of them, separated by spaces.")
  private Map<String, String> values = new LinkedHashMap<>();

  /** Returns a builder with the options: those of the command line, else those of the variable. */
  ConnectionOptions.Builder builder() {
    ConnectionOptions.Builder builder = ConnectionOptions.builder();
    defaults(System.getenv().getOrDefault(VARIABLE, "")).forEach(builder::set);
    values.forEach(builder::set);
    return builder;
  }

  /**
   * Returns the options of the command line. A process that is started has the variable as well.
   */
  Map<String, String> values() {
    return values;
  }

  /** Parses the value of the environment variable, such as {@code wait=block maxMessage=4KiB}. */
  static Map<String, String> defaults(String text) {
    Map<String, String> defaults = new LinkedHashMap<>();
    for (String word : text.strip().split("\\s+")) {
      int equals = word.indexOf('=');
      if (equals > 0) {
        defaults.put(word.substring(0, equals), word.substring(equals + 1));
      } else if (!word.isEmpty()) {
        throw new ToolException(
            ExitCode.USAGE,
            "the environment variable %s: '%s' is not NAME=VALUE; separate options by spaces"
                .formatted(VARIABLE, word));
      }
    }
    return defaults;
  }
}
