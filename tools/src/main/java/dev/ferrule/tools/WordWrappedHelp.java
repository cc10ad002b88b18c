// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/**
 * A help text that breaks lines only at spaces. Picocli applies the rules for prose, which also
 * permit a break within a value such as {@code 8,64,4KiB} or {@code --option}.
 */
final class WordWrappedHelp extends Help {

  private static final int UNLIMITED_WIDTH = 10_000;
  private static final Pattern COLOUR = Pattern.compile("\033\\[[0-9;]*m");

  WordWrappedHelp(CommandSpec command, ColorScheme colours) {
    super(command, colours);
  }

  @Override
  public Layout createDefaultLayout() {
    return new WordLayout(super.createDefaultLayout());
  }

  @Override
  public Layout createDefaultLayout(
      List<OptionSpec> options, List<PositionalParamSpec> parameters, ColorScheme colours) {
    return new WordLayout(super.createDefaultLayout(options, parameters, colours));
  }

  @Override
  public String description(Object... parameters) {
    return joined(commandSpec().usageMessage().description(), parameters);
  }

  @Override
  public String footer(Object... parameters) {
    return joined(commandSpec().usageMessage().footer(), parameters);
  }

  private String joined(String[] paragraphs, Object... parameters) {
    UsageMessageSpec usage = commandSpec().usageMessage();
    int width = usage.width();
    String[] lines =
        Arrays.stream(paragraphs)
            .flatMap(paragraph -> lines(ansi().new Text(paragraph), width, width).stream())
            .map(Ansi.Text::toString)
            .toArray(String[]::new);
    return join(
            ansi(),
            width,
            usage.adjustLineBreaksForWideCJKCharacters(),
            lines,
            new StringBuilder(),
            parameters)
        .toString();
  }

  @Override
  public String synopsis(int headingLength) {
    UsageMessageSpec usage = commandSpec().usageMessage();
    int width = usage.width();
    String line;
    usage.width(UNLIMITED_WIDTH);
    try {
      line = super.synopsis(headingLength).strip();
    } finally {
      usage.width(width);
    }
    int indent = Math.min(headingLength + commandSpec().qualifiedName().length() + 1, width / 2);
    StringBuilder text = new StringBuilder();
    int column = headingLength;
    for (String word : line.split(" ")) {
      int length = COLOUR.matcher(word).replaceAll("").length();
      if (column + 1 + length > width) {
        text.append(System.lineSeparator()).append(" ".repeat(indent));
        column = indent;
      } else if (!text.isEmpty()) {
        text.append(' ');
        column++;
      }
      text.append(word);
      column += length;
    }
    return text.append(System.lineSeparator()).toString();
  }

  /** Splits a text at spaces into lines of at most these lengths; picocli splits a longer word. */
  private static List<Ansi.Text> lines(Ansi.Text text, int first, int others) {
    List<Ansi.Text> lines = new ArrayList<>();
    Ansi.Text rest = text;
    int length = first;
    while (rest.plainString().length() > length) {
      String plain = rest.plainString();
      int end = plain.lastIndexOf(' ', length);
      if (end <= 0) {
        break;
      }
      lines.add(rest.substring(0, end));
      rest = rest.substring(end + 1);
      length = others;
    }
    lines.add(rest);
    return lines;
  }

  /** Adds a row for each line of a description. */
  private static final class WordLayout extends Layout {

    WordLayout(Layout standard) {
      super(
          standard.colorScheme(),
          standard.textTable(),
          standard.optionRenderer(),
          standard.parameterRenderer());
    }

    @Override
    public void layout(ArgSpec argument, Ansi.Text[][] rows) {
      super.layout(
          argument,
          Arrays.stream(rows).flatMap(row -> split(row).stream()).toArray(Ansi.Text[][]::new));
    }

    /** The description is in the last column. */
    private List<Ansi.Text[]> split(Ansi.Text[] row) {
      int last = table.columns().length - 1;
      if (row.length != table.columns().length) {
        return List.<Ansi.Text[]>of(row);
      }
      Column column = table.columns()[last];
      int room = column.width - column.indent;
      Ansi ansi = colorScheme.ansi();
      List<Ansi.Text[]> rows = new ArrayList<>();
      for (Ansi.Text line : lines(row[last], room, room - table.indentWrappedLines)) {
        Ansi.Text[] cells = row.clone();
        if (rows.isEmpty()) {
          cells[last] = line;
        } else {
          Arrays.fill(cells, ansi.new Text(""));
          cells[last] = ansi.new Text(" ".repeat(table.indentWrappedLines)).concat(line);
        }
        rows.add(cells);
      }
      return rows;
    }
  }
}
