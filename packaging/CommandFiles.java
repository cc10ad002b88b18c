// SPDX-License-Identifier: Apache-2.0
import dev.ferrule.tools.Main;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * Writes the man pages and the completions of {@code ferrule} from the description of its commands:
 * {@code java CommandFiles.java FOLDER VERSION DATE}. Started by {@code ./dist}; FOLDER becomes
 * {@code share} of the distribution.
 */
final class CommandFiles {

  private static final String NAME = "ferrule";

  /** The labels of values that are paths. */
  private static final List<String> PATH_LABELS = List.of("FILE", "PATH", "FOLDER", "DIRECTORY");

  /** The labels of positional parameters that are URIs, whose shared memory is in a folder. */
  private static final List<String> ADDRESS_LABELS = List.of("URI");

  private static final Map<String, String> VARIABLES =
      Map.of(
          "FERRULE_JAVA_OPTS",
          "Further options of the Java virtual machine, separated by spaces, such as"
              + " -Xmx64m. JAVA_TOOL_OPTIONS and JDK_JAVA_OPTIONS are ignored.",
          "FERRULE_OPTIONS",
          "Defaults of connection options, separated by spaces, such as wait=block.",
          "FERRULE_TOKEN",
          "The default of the option --token.",
          "NO_COLOR",
          "If not empty, help texts have no colours.");

  private final Path folder;
  private final String version;
  private final String date;
  private final CommandSpec root = Main.description().getCommandSpec();
  private final List<CommandSpec> commands =
      root.subcommands().values().stream()
          .map(CommandLine::getCommandSpec)
          .filter(command -> !command.usageMessage().hidden())
          .toList();

  private CommandFiles(Path folder, String version, String date) {
    this.folder = folder;
    this.version = version;
    this.date = date;
  }

  public static void main(String[] arguments) throws IOException {
    new CommandFiles(Path.of(arguments[0]), arguments[1], arguments[2]).write();
  }

  private void write() throws IOException {
    write("man/man1/" + NAME + ".1", manual(root));
    for (CommandSpec command : commands) {
      if (!command.name().equals("help")) {
        write("man/man1/" + pageName(command) + ".1", manual(command));
      }
    }
    write("bash-completion/completions/" + NAME, bash());
    write("zsh/site-functions/_" + NAME, zsh());
    write("fish/vendor_completions.d/" + NAME + ".fish", fish());
  }

  private void write(String name, String text) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  // The description of the commands

  private static List<OptionSpec> options(CommandSpec command) {
    return command.options().stream().filter(option -> !option.hidden()).toList();
  }

  private static List<PositionalParamSpec> operands(CommandSpec command) {
    return command.positionalParameters().stream().filter(operand -> !operand.hidden()).toList();
  }

  /** Returns the names of an option, with the negated one of {@code --[no-]name}. */
  private static List<String> names(OptionSpec option) {
    return Stream.concat(
            Arrays.stream(option.names()),
            option.negatable()
                ? Arrays.stream(option.names()).map(name -> name.replaceFirst("^--", "--no-"))
                : Stream.empty())
        .toList();
  }

  private static boolean hasValue(OptionSpec option) {
    return option.arity().max() > 0;
  }

  private static boolean needsValue(OptionSpec option) {
    return option.arity().min() > 0;
  }

  private static boolean isPath(ArgSpec argument) {
    return PATH_LABELS.contains(argument.paramLabel());
  }

  private static boolean takesPaths(CommandSpec command) {
    return operands(command).stream()
        .anyMatch(operand -> isPath(operand) || ADDRESS_LABELS.contains(operand.paramLabel()));
  }

  private static List<String> candidates(ArgSpec argument) {
    return argument.completionCandidates() == null
        ? List.of()
        : StreamSupport.stream(argument.completionCandidates().spliterator(), false)
            .map(candidate -> candidate.toLowerCase(Locale.ROOT))
            .toList();
  }

  private static String label(ArgSpec argument) {
    return new Help(argument.command(), Help.defaultColorScheme(Help.Ansi.OFF))
        .parameterLabelRenderer()
        .renderParameterLabel(argument, Help.Ansi.OFF, List.of())
        .toString();
  }

  private static List<String> paragraphs(String... texts) {
    return Arrays.stream(texts)
        .map(text -> String.format(text)) // picocli's texts are format strings
        .flatMap(String::lines)
        .filter(text -> !text.isBlank())
        .toList();
  }

  private static List<String> description(CommandSpec command) {
    return paragraphs(command.usageMessage().description());
  }

  private static String firstSentence(List<String> paragraphs) {
    String text = paragraphs.isEmpty() ? "" : paragraphs.getFirst();
    int end = text.indexOf(". ");
    return (end < 0 ? text : text.substring(0, end)).replaceFirst("\\.$", "");
  }

  private static String firstSentence(ArgSpec argument) {
    return firstSentence(paragraphs(argument.description()));
  }

  private static String pageName(CommandSpec command) {
    return command.qualifiedName("-");
  }

  // Man pages

  private String manual(CommandSpec command) {
    boolean isRoot = command == root;
    Roff page = new Roff();
    page.line(
        ".TH \"%s\" 1 \"%s\" \"Ferrule %s\" \"Ferrule\""
            .formatted(
                Roff.escape(pageName(command).toUpperCase(Locale.ROOT)),
                date,
                Roff.escape(version)));
    page.section("NAME");
    page.text(pageName(command) + " - " + summary(command));
    page.section("SYNOPSIS");
    page.line(synopsis(command));
    page.section("DESCRIPTION");
    page.paragraphs(description(command));
    if (!operands(command).isEmpty()) {
      page.section("OPERANDS");
      for (PositionalParamSpec operand : operands(command)) {
        page.item(Roff.label(label(operand)), paragraphs(operand.description()));
      }
    }
    page.section("OPTIONS");
    for (OptionSpec option : options(command)) {
      String label = label(option);
      page.item(
          names(option).stream().map(Roff::bold).collect(Collectors.joining(", "))
              + Roff.label(label),
          paragraphs(option.description()));
    }
    if (isRoot) {
      page.section("COMMANDS");
      for (CommandSpec sub : commands) {
        page.item(
            Roff.bold(NAME + " " + sub.name()), List.of(firstSentence(description(sub)) + "."));
      }
    }
    page.section("EXIT STATUS");
    command
        .usageMessage()
        .exitCodeList()
        .forEach((code, meaning) -> page.item(Roff.bold(code.strip()), List.of(meaning)));
    if (isRoot) {
      page.section("ENVIRONMENT");
      VARIABLES.entrySet().stream()
          .sorted(Map.Entry.comparingByKey())
          .forEach(entry -> page.item(Roff.bold(entry.getKey()), List.of(entry.getValue())));
    }
    page.examples(command.usageMessage().footer());
    page.section("SEE ALSO");
    page.line(
        Stream.concat(Stream.of(root), commands.stream())
            .filter(other -> other != command && !other.name().equals("help"))
            .map(other -> Roff.bold(pageName(other)) + "(1)")
            .collect(Collectors.joining(",\n")));
    return page.toString();
  }

  private static String summary(CommandSpec command) {
    String text = firstSentence(description(command)).replaceFirst(":.*", "");
    return text.substring(0, 1).toLowerCase(Locale.ROOT) + text.substring(1);
  }

  private String synopsis(CommandSpec command) {
    String operands =
        command == root
            ? " " + Roff.italic("COMMAND") + " ..."
            : operands(command).stream()
                .map(operand -> " " + Roff.label(label(operand)))
                .collect(Collectors.joining());
    return Roff.bold(command.qualifiedName()) + " [" + Roff.italic("OPTION") + "]..." + operands;
  }

  /** A man page in the making. */
  private static final class Roff {

    private final StringBuilder text = new StringBuilder();

    static String escape(String text) {
      return text.replace("\\", "\\e")
          .replace("-", "\\-")
          .replace("'", "\\(aq")
          .replace("`", "\\(ga")
          .replace("^", "\\(ha")
          .replace("~", "\\(ti")
          .replaceFirst("^\\.", "\\\\&.");
    }

    static String bold(String text) {
      return "\\fB" + escape(text) + "\\fR";
    }

    static String italic(String text) {
      return "\\fI" + escape(text) + "\\fR";
    }

    /** Returns a label such as {@code =N[,N...]} with its words in italics. */
    static String label(String label) {
      return escape(label).replaceAll("[A-Z][A-Z0-9]*(?=[^a-z]|$)", "\\\\fI$0\\\\fR");
    }

    void line(String line) {
      text.append(line).append('\n');
    }

    void text(String paragraph) {
      line(escape(paragraph));
    }

    void section(String title) {
      line(".SH " + title);
    }

    void paragraphs(List<String> paragraphs) {
      for (int i = 0; i < paragraphs.size(); i++) {
        if (i > 0) {
          line(".PP");
        }
        text(paragraphs.get(i));
      }
    }

    void item(String term, List<String> paragraphs) {
      line(".TP");
      line(term);
      text(String.join(" ", paragraphs));
    }

    /** Appends the examples: indented lines are verbatim, others are text. */
    void examples(String[] footer) {
      List<String> lines =
          Arrays.stream(footer)
              .map(line -> String.format(line))
              .filter(line -> !line.isBlank() && !line.equals("Examples:"))
              .toList();
      if (lines.isEmpty()) {
        return;
      }
      section("EXAMPLES");
      boolean verbatim = false;
      for (String line : lines) {
        boolean isCommand = line.startsWith("  ");
        if (isCommand != verbatim) {
          line(isCommand ? ".EX" : ".EE\n.PP");
          verbatim = isCommand;
        }
        text(line);
      }
      if (verbatim) {
        line(".EE");
      }
    }

    @Override
    public String toString() {
      return text.toString();
    }
  }

  // Completions

  private String commandNames() {
    return commands.stream().map(CommandSpec::name).collect(Collectors.joining(" "));
  }

  private static String header(String shell) {
    return "# SPDX-License-Identifier: Apache-2.0\n# Completion of the command ferrule for "
        + shell
        + "\n";
  }

  private String bash() {
    StringBuilder options = new StringBuilder();
    StringBuilder values = new StringBuilder();
    for (CommandSpec command : Stream.concat(Stream.of(root), commands.stream()).toList()) {
      String name = command == root ? "" : command.name();
      options.append(
          "    '%s') options='%s' ;;\n"
              .formatted(
                  name,
                  options(command).stream()
                      .flatMap(option -> names(option).stream())
                      .filter(option -> option.startsWith("--"))
                      .collect(Collectors.joining(" "))));
      for (OptionSpec option : options(command)) {
        if (!candidates(option).isEmpty()) {
          values.append(
              "    %s) words='%s' ;;\n"
                  .formatted(bashPattern(name, option), String.join(" ", candidates(option))));
        }
      }
      String others =
          options(command).stream()
              .filter(
                  option -> needsValue(option) && !isPath(option) && candidates(option).isEmpty())
              .map(option -> bashPattern(name, option))
              .collect(Collectors.joining(" | "));
      if (!others.isEmpty()) {
        values.append("    %s) words='' ;;\n".formatted(others));
      }
    }
    return header("bash")
        + """
        _ferrule() {
          local commands='@commands@'
          local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
          local command='' options='' words=none i
          # Bash separates --option=value into three words, and NAME=VALUE after --option as well.
          if [ "$current" = = ]; then
            current=''
            [[ $previous = -* ]] || previous=--option
          elif [ "$previous" = = ] && [ "$COMP_CWORD" -gt 2 ]; then
            previous=${COMP_WORDS[COMP_CWORD - 2]}
            [[ $previous = -* ]] || previous=--option
          fi
          for ((i = 1; i < COMP_CWORD; i++)); do
            case " $commands " in *" ${COMP_WORDS[i]} "*) command=${COMP_WORDS[i]}; break ;; esac
          done
          # The values of an option; none if these are paths, or the word is no value.
          case $command:$previous in
        @values@  esac
          case $command in
        @options@  esac
          if [ "$words" = none ]; then
            if [[ $current = -* ]]; then
              words=$options
            elif [[ $command = '' || $command = help ]]; then
              words=$commands
            fi
          fi
          COMPREPLY=()
          # Without words, bash completes a path.
          if [ "$words" != none ]; then
            compopt +o default +o bashdefault 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
          fi
        }
        complete -o bashdefault -o default -F _ferrule ferrule
        """
            .replace("@commands@", commandNames())
            .replace("@values@", values)
            .replace("@options@", options);
  }

  private static String bashPattern(String command, OptionSpec option) {
    return names(option).stream()
        .map(name -> command + ":" + name)
        .collect(Collectors.joining(" | "));
  }

  private String zsh() {
    String cases =
        commands.stream()
            .map(command ->
                "        %s)\n          _arguments -S %s\n          ;;\n"
                    .formatted(command.name(), zshArguments(command)))
            .collect(Collectors.joining());
    String described =
        commands.stream()
            .map(command ->
                "        "
                    + quoted(
                        command.name()
                            + ":"
                            + firstSentence(description(command)).replace(":", "\\:")))
            .collect(Collectors.joining("\n"));
    return "#compdef ferrule\n"
        + header("zsh")
        + """
        _ferrule_commands() {
          local -a commands=(
        @described@
          )
          _describe -t commands command commands
        }

        _ferrule() {
          local context state state_descr line
          typeset -A opt_args
          _arguments -S -C @options@ \\
            '1:command:_ferrule_commands' \\
            '*::argument:->argument'
          case $state in
            argument)
              case $words[1] in
        @cases@      esac
              ;;
          esac
        }

        if [ "$funcstack[1]" = _ferrule ]; then _ferrule "$@"; else compdef _ferrule ferrule; fi
        """
            .replace("@described@", described)
            .replace("@options@", zshOptions(root))
            .replace("@cases@", cases);
  }

  private String zshArguments(CommandSpec command) {
    if (command.name().equals("help")) {
      return "'1:command:_ferrule_commands'";
    }
    String operand =
        operands(command).isEmpty()
            ? ""
            : " \\\n            "
                + quoted(
                    "*:"
                        + operands(command).getFirst().paramLabel()
                        + ":"
                        + (takesPaths(command) ? "_files" : ""));
    return zshOptions(command) + operand;
  }

  private static String zshOptions(CommandSpec command) {
    return options(command).stream()
        .map(CommandFiles::zshOption)
        .map(option -> "\\\n            " + option)
        .collect(Collectors.joining(" "));
  }

  private static String zshOption(OptionSpec option) {
    List<String> names = names(option);
    String description = firstSentence(option).replaceAll("([\\[\\]:\\\\])", "\\\\$1");
    String value = "";
    if (hasValue(option)) {
      List<String> candidates = candidates(option);
      value =
          (needsValue(option) ? ":" : "::")
              + option.paramLabel().replace(":", "\\:")
              + ":"
              + (isPath(option)
                  ? "_files"
                  : candidates.isEmpty() ? "" : "(" + String.join(" ", candidates) + ")");
    }
    boolean repeats = option.isMultiValue();
    String exclusive = repeats ? "*" : "(" + String.join(" ", names) + ")";
    String rest = "[" + description + "]" + value;
    return names.stream()
        .map(name -> {
          String mark =
              !hasValue(option)
                  ? ""
                  : name.startsWith("--") ? needsValue(option) ? "=" : "=-" : "+";
          return quoted(exclusive + name + mark + rest);
        })
        .collect(Collectors.joining(" "));
  }

  /** Returns a word in single quotes of sh and zsh. */
  private static String quoted(String word) {
    return "'" + word.replace("'", "'\\''") + "'";
  }

  private String fish() {
    List<String> lines = new ArrayList<>();
    lines.add("complete -c ferrule -f");
    for (OptionSpec option : options(root)) {
      lines.addAll(fishOption("__fish_use_subcommand", option));
    }
    Function<String, String> seen = name -> "__fish_seen_subcommand_from " + name;
    for (CommandSpec command : commands) {
      String name = command.name();
      lines.add(
          "complete -c ferrule -n __fish_use_subcommand -a %s -d %s"
              .formatted(name, fishQuoted(firstSentence(description(command)))));
      if (name.equals("help")) {
        lines.add(
            "complete -c ferrule -n '%s' -a '%s'".formatted(seen.apply(name), commandNames()));
        continue;
      }
      for (OptionSpec option : options(command)) {
        lines.addAll(fishOption(seen.apply(name), option));
      }
      if (takesPaths(command)) {
        lines.add("complete -c ferrule -n '%s' -F".formatted(seen.apply(name)));
      }
    }
    return header("fish") + String.join("\n", lines) + "\n";
  }

  private static List<String> fishOption(String condition, OptionSpec option) {
    StringBuilder line = new StringBuilder("complete -c ferrule -n '" + condition + "'");
    for (String name : names(option)) {
      line.append(name.startsWith("--") ? " -l " + name.substring(2) : " -s " + name.substring(1));
    }
    if (needsValue(option)) {
      line.append(isPath(option) ? " -r -F" : " -x");
    }
    List<String> candidates = candidates(option);
    if (!candidates.isEmpty()) {
      line.append(" -a '").append(String.join(" ", candidates)).append("'");
    }
    return List.of(line.append(" -d ").append(fishQuoted(firstSentence(option))).toString());
  }

  private static String fishQuoted(String word) {
    return "'" + word.replace("\\", "\\\\").replace("'", "\\'") + "'";
  }
}
