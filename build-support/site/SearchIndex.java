// SPDX-License-Identifier: Apache-2.0
import java.util.StringJoiner;

/**
 * The text of all pages by sections, as a script: a page that was opened as a file may load
 * scripts, but no other files. {@code search.js} searches it.
 */
class SearchIndex {

  private final StringJoiner sections = new StringJoiner(",\n", "var searchIndex = [\n", "\n];\n");

  void add(Page page) {
    for (Page.Section section : page.sections()) {
      sections.add(
          "{\"page\":%s,\"url\":%s,\"title\":%s,\"text\":%s}"
              .formatted(
                  quote(page.title()),
                  quote(page.target() + "#" + section.anchor()),
                  quote(section.title()),
                  quote(section.text())));
    }
  }

  String script() {
    return sections.toString();
  }

  /** Returns text on one line as a string of JSON. */
  private static String quote(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }
}
