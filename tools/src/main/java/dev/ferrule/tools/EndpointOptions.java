// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Connection and listener options by name, for every command that connects or listens. */
final class EndpointOptions {

  /** The environment variable with defaults of the options. */
  static final String VARIABLE = "FERRULE_OPTIONS";

  private static final String SOURCE = "the environment variable " + VARIABLE + ": ";

  @Option(
      names = {"-o", "--option"},
      paramLabel = "NAME=VALUE",
      converter = Setting.Converter.class,
      description =
          "A connection option, as in the query of a URI; 'ferrule providers' lists them. The"
              + " environment variable "
              + VARIABLE
              + " has defaults of them, separated by spaces.")
  private List<Setting> settings = new ArrayList<>();

  /** An option with its value. */
  record Setting(String name, String value) {

    /** Converts {@code NAME=VALUE}. */
    static final class Converter implements ITypeConverter<Setting> {
      @Override
      public Setting convert(String text) {
        return parse(text)
            .orElseThrow(() ->
                new TypeConversionException("'" + text + "' is not NAME=VALUE, such as wait=spin"));
      }
    }

    static Optional<Setting> parse(String text) {
      int equals = text.indexOf('=');
      return equals <= 0
          ? Optional.empty()
          : Optional.of(new Setting(text.substring(0, equals), text.substring(equals + 1)));
    }
  }

  /** Returns a builder with the options: those of the command line, else those of the variable. */
  ConnectionOptions.Builder builder() {
    ConnectionOptions.Builder builder = ConnectionOptions.builder();
    defaults(ofEnvironment()).forEach(builder::set);
    values().forEach(builder::set);
    return builder;
  }

  private static String ofEnvironment() {
    return System.getenv().getOrDefault(VARIABLE, "");
  }

  /** Sets an option, as the command line does. */
  void set(String name, String value) {
    settings.add(new Setting(name, value));
  }

  /**
   * Returns the options of the command line. A process that is started has the variable as well.
   */
  Map<String, String> values() {
    Map<String, String> values = new LinkedHashMap<>();
    settings.forEach(setting -> values.put(setting.name(), setting.value()));
    return values;
  }

  /** Parses the value of the environment variable, such as {@code wait=block maxMessage=4KiB}. */
  static Map<String, String> defaults(String text) {
    Map<String, String> defaults = new LinkedHashMap<>();
    for (String word : text.strip().split("\\s+")) {
      Optional<Setting> setting = Setting.parse(word);
      if (setting.isPresent()) {
        defaults.put(setting.get().name(), setting.get().value());
      } else if (!word.isEmpty()) {
        throw new ToolException(
            ExitCode.USAGE,
            "%s'%s' is not NAME=VALUE; separate options by spaces".formatted(SOURCE, word));
      }
    }
    return defaults;
  }

  /**
   * Returns the beginning of a message about an invalid option: the name of the environment
   * variable if it has the option, or nothing.
   */
  static String source(String message) {
    boolean ofVariable =
        defaults(ofEnvironment()).entrySet().stream()
            .anyMatch(option -> {
              String name = option.getKey();
              String unscoped = name.substring(name.indexOf('.') + 1);
              return message.contains(
                      "option " + unscoped + "=" + option.getValue() + " is not valid")
                  || message.contains("unknown option '" + unscoped + "'")
                  || message.contains("in option '" + name + "'");
            });
    return ofVariable ? SOURCE : "";
  }
}
