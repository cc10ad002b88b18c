// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** docs/json.md: its tables of fields, and its examples with jq. */
public final class JsonPage {

  private static final String COMMON = "Every document";
  private static final String ALWAYS = "always";

  private final Map<String, Map<String, Field>> tables = new LinkedHashMap<>();
  private final Map<String, List<String>> examples = new LinkedHashMap<>();

  private record Field(String type, String present) {}

  private JsonPage() {}

  /** {@return the page as it is now} */
  public static JsonPage read() throws IOException {
    JsonPage page = new JsonPage();
    String heading = "";
    for (String line : Files.readAllLines(Path.of("../docs/json.md"))) {
      if (line.startsWith("## ")) {
        heading = line.substring(3);
      } else if (line.startsWith("| `") && !heading.isEmpty()) {
        List<String> cells = Stream.of(line.split(" *\\| *", -1)).map(String::strip).toList();
        assertThat(cells).as(line).hasSize(7); // five, between two that are empty
        assertThat(cells.get(5)).as(line).isNotEmpty();
        page.tables
            .computeIfAbsent(heading, key -> new LinkedHashMap<>())
            .put(cells.get(1).replace("`", ""), new Field(cells.get(2), cells.get(5)));
      } else if (line.startsWith("    ./")) {
        page.examples.computeIfAbsent(heading, key -> new ArrayList<>()).add(line.strip());
      }
    }
    return page;
  }

  /** {@return the schemas that the page specifies} */
  public Set<String> schemas() {
    return tables.keySet().stream()
        .filter(heading -> !heading.equals(COMMON))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** {@return the headings of the sections with examples} */
  public Set<String> sectionsWithExamples() {
    return new TreeSet<>(examples.keySet());
  }

  /** {@return the only example of a section: a command, and the filter that reads its output} */
  public Example example(String section) {
    List<String> all = examples.get(section);
    assertThat(all).as(section).hasSize(1);
    String[] parts = all.getFirst().split(" \\| ", 2);
    return new Example(parts[0], parts[1]);
  }

  /**
   * An example.
   *
   * @param command a command of Ferrule
   * @param filter the command that reads its output
   */
  public record Example(String command, String filter) {

    /** {@return what the filter prints for a document} */
    public String filtered(String document) throws Exception {
      boolean installed = new ProcessBuilder("sh", "-c", "command -v jq").start().waitFor() == 0;
      if (System.getenv("CI") == null) {
        assumeThat(installed).as("jq is installed").isTrue();
      }
      Path input = Files.createTempFile("ferrule", ".json");
      try {
        Files.writeString(input, document);
        Process process =
            new ProcessBuilder("sh", "-c", filter)
                .redirectInput(input.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes());
        assertThat(process.waitFor()).as("%s: %s", filter, output).isZero();
        return output;
      } finally {
        Files.delete(input);
      }
    }
  }

  /**
   * Checks that the fields of documents of one schema, together, are exactly those of its table, of
   * the types that the table states, and that no document lacks a field that is always present.
   *
   * @param schema the schema
   * @param documents the documents
   */
  public void assertDescribes(String schema, JsonObject... documents) {
    Map<String, Field> table = new LinkedHashMap<>(tables.get(COMMON));
    assertThat(tables).as("the sections of docs/json.md").containsKey(schema);
    table.putAll(tables.get(schema));
    Map<String, Set<String>> found = new TreeMap<>();
    for (JsonObject document : documents) {
      assertThat(document.get("schema").getAsString()).isEqualTo(schema);
      visit("", document, table, found);
    }
    assertThat(found.keySet())
        .as("the fields of %s, which runs print and the table lists", schema)
        .containsExactlyInAnyOrderElementsOf(table.keySet());
    found.forEach((path, types) ->
        assertThat(types)
            .as("the types of %s in %s: %s", path, schema, table.get(path).type())
            .allMatch(type -> isOf(type, table.get(path).type())));
  }

  private static boolean isOf(String type, String listed) {
    return type.equals(listed)
        || type.equals("integer") && listed.equals("number")
        || type.equals("empty array") && listed.startsWith("array of ");
  }

  private static void visit(
      String path, JsonObject object, Map<String, Field> table, Map<String, Set<String>> found) {
    String prefix = path.isEmpty() ? "" : path + ".";
    table.forEach((name, field) -> {
      boolean isHere = name.startsWith(prefix) && name.indexOf('.', prefix.length()) < 0;
      if (isHere && field.present().equals(ALWAYS)) {
        assertThat(object.keySet()).as("'%s'", path).contains(name.substring(prefix.length()));
      }
    });
    object
        .asMap()
        .forEach((name, value) -> {
          found.computeIfAbsent(prefix + name, key -> new TreeSet<>()).add(type(value));
          if (value instanceof JsonObject inner) {
            visit(prefix + name, inner, table, found);
          } else if (value instanceof JsonArray array) {
            for (JsonElement element : array) {
              if (element instanceof JsonObject inner) {
                visit(prefix + name + "[]", inner, table, found);
              }
            }
          }
        });
  }

  private static String type(JsonElement value) {
    if (value instanceof JsonArray array) {
      Set<String> types = new TreeSet<>();
      array.forEach(element -> types.add(type(element)));
      return types.isEmpty() ? "empty array" : "array of " + String.join(" or ", types) + "s";
    }
    if (value instanceof JsonPrimitive primitive) {
      return primitive.isString()
          ? "string"
          : primitive.isBoolean()
              ? "boolean"
              : primitive.getAsString().matches("-?\\d+") ? "integer" : "number";
    }
    return value.isJsonNull() ? "null" : "object";
  }
}
