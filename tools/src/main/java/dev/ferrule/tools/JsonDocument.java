// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.ferrule.tools.support.Json;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * The JSON document that a command writes: one object for each run, as docs/json.md specifies. It
 * begins with its schema and with what wrote it, continues with the properties of the run, and ends
 * with the array {@code results}. What is unknown or does not apply is omitted.
 */
public final class JsonDocument {

  private static final char LAST_OF_ASCII = 127;

  private final JsonObject properties = new JsonObject();
  private final JsonArray results = new JsonArray();

  /**
   * Begins a document.
   *
   * @param schema the command and the version of its document, such as {@code ferrule.ls/1}; a
   *     field that is removed, or whose meaning or type changes, needs a new version
   * @param start when the run began
   */
  public JsonDocument(String schema, Instant start) {
    properties.addProperty("schema", schema);
    properties.addProperty("ferrule", VersionProvider.build());
    properties.addProperty("java", Runtime.version().toString());
    properties.addProperty("start", start.truncatedTo(ChronoUnit.MILLIS).toString());
  }

  /** {@return the properties of the run, to add others} */
  public JsonObject properties() {
    return properties;
  }

  /** {@return the results, to add to} */
  public JsonArray results() {
    return results;
  }

  /**
   * {@return the text of the document, terminated by a newline. It is ASCII, so that the encoding
   * of standard output does not matter}
   */
  public String format() {
    JsonObject document = properties.deepCopy();
    document.add("results", results);
    StringBuilder text = new StringBuilder();
    for (char unit : Json.format(document).toCharArray()) { // other characters are in strings only
      text.append(unit <= LAST_OF_ASCII ? String.valueOf(unit) : "\\u%04x".formatted((int) unit));
    }
    return text.toString();
  }
}
