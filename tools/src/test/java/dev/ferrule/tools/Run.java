// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;

/**
 * The result of a command that was run in this process.
 *
 * @param exitCode its exit code
 * @param out its standard output
 * @param err its standard error
 */
public record Run(int exitCode, String out, String err) {

  /**
   * Runs a command line.
   *
   * @param arguments its words
   * @return the result
   */
  public static Run of(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code = Main.run(new PrintWriter(out), new PrintWriter(err, true), arguments);
    return new Run(code, out.toString(), err.toString());
  }

  /** {@return the JSON document that the command wrote to its standard output} */
  public JsonObject document() {
    return new Gson().fromJson(out, JsonObject.class);
  }

  /** {@return the results in the JSON document} */
  public List<JsonObject> results() {
    return document().getAsJsonArray("results").asList().stream()
        .map(JsonElement::getAsJsonObject)
        .toList();
  }
}
