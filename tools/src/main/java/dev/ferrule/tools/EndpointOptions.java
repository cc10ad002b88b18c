// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.ConnectionOptions;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Option;

/** Connection and listener options by name, for every command that connects or listens. */
final class EndpointOptions {

  @Option(
      names = {"-o", "--option"},
      paramLabel = "NAME=VALUE",
      description =
          "A connection option, as in the query of a URI; 'ferrule providers' lists them.")
  private Map<String, String> values = new LinkedHashMap<>();

  ConnectionOptions.Builder builder() {
    ConnectionOptions.Builder builder = ConnectionOptions.builder();
    values.forEach(builder::set);
    return builder;
  }

  Map<String, String> values() {
    return values;
  }
}
