// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A command in a block of a page. A block is indented by four or more spaces, or fenced without a
 * language. Formulas and diagrams are fenced as {@code text}.
 *
 * @param page the page, relative to the root
 * @param line the number of the command's first line
 * @param text the command, with its continuation lines, without its comment
 * @param shown the output that the page shows below a command that begins with {@code $}
 */
public record PageCommand(String page, int line, String text, List<String> shown) {

  private static final Pattern FENCE = Pattern.compile(" *```(.*)");
  private static final Pattern COMMENT = Pattern.compile("(^|\\s+)#(\\s.*)?$");
  private static final String INDENTATION = "    ";
  private static final String PROMPT = "$ ";

  /** Returns the commands of each block of all pages. */
  public static List<List<PageCommand>> blocks() throws IOException {
    List<List<PageCommand>> blocks = new ArrayList<>();
    for (Page page : Page.all()) {
      blocks.addAll(blocks(page));
    }
    return blocks;
  }

  static List<List<PageCommand>> blocks(Page page) {
    String name = Page.ROOT.relativize(page.file()).toString();
    List<List<PageCommand>> blocks = new ArrayList<>();
    List<String> lines = page.text().lines().toList();
    List<String> block = new ArrayList<>();
    String language = null; // of the fence that is open
    for (int i = 0; i <= lines.size(); i++) {
      String line = i < lines.size() ? lines.get(i) : "end";
      Matcher fence = FENCE.matcher(line);
      boolean isPart = false;
      if (fence.matches()) {
        language = language == null ? fence.group(1) : null;
      } else if (language != null) {
        isPart = language.isEmpty();
      } else {
        isPart = line.startsWith(INDENTATION) || line.isBlank() && !block.isEmpty();
      }
      if (isPart) {
        block.add(line);
      } else if (!block.isEmpty()) {
        blocks.add(commands(name, i - block.size() + 1, block));
        block.clear();
      }
    }
    return blocks;
  }

  private static List<PageCommand> commands(String page, int first, List<String> block) {
    List<PageCommand> commands = new ArrayList<>();
    boolean isTranscript = block.getFirst().strip().startsWith(PROMPT);
    int start = 0;
    String begun = "";
    for (int i = 0; i < block.size(); i++) {
      String line = block.get(i).strip();
      if (isTranscript && !line.startsWith(PROMPT)) {
        if (!line.isEmpty()) {
          commands.getLast().shown().add(line);
        }
        continue;
      }
      if (begun.isEmpty()) {
        start = i;
      }
      begun = withoutComment(begun + (isTranscript ? line.substring(PROMPT.length()) : line));
      if (begun.endsWith("\\")) {
        begun = begun.substring(0, begun.length() - 1);
      } else if (isQuoting(begun)) {
        begun += "\n";
      } else if (!begun.isEmpty()) {
        commands.add(new PageCommand(page, first + start, begun, new ArrayList<>()));
        begun = "";
      }
    }
    if (!begun.isEmpty()) {
      throw new AssertionError(page + ":" + (first + start) + ": a command that does not end");
    }
    return commands;
  }

  private static String withoutComment(String text) {
    Matcher comment = COMMENT.matcher(text);
    for (int from = 0; comment.find(from); from = comment.start() + 1) {
      if (!isQuoting(text.substring(0, comment.start()))) {
        return text.substring(0, comment.start());
      }
    }
    return text;
  }

  /** Returns whether a text ends within single quotes. */
  private static boolean isQuoting(String text) {
    return text.chars().filter(c -> c == '\'').count() % 2 == 1;
  }

  /**
   * Returns whether the arguments of {@code ferrule} or {@code compare} name a transport over RDMA.
   */
  static boolean needsDevice(List<String> arguments) {
    return arguments.stream().anyMatch(word -> word.matches("(sendrecv|magicring)(://.*)?"));
  }

  /** Returns whether {@code PageCommandsDeviceTest} runs {@code ferrule} with these arguments. */
  public static boolean isRunOnDevice(List<String> arguments, boolean onDevice) {
    return switch (arguments.getFirst()) {
      case "serve" ->
          arguments.stream().anyMatch(word -> word.matches("(sendrecv|magicring)://.*"));
      case "latency", "rma" -> needsDevice(arguments);
      case "doctor" -> onDevice;
      default -> false;
    };
  }

  /** Returns where the command is, for messages. */
  String place() {
    return page + ":" + line + ": " + text;
  }
}
