// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

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

  /**
   * Runs a command line again and again until its result satisfies a condition, for at most 30 s:
   * an answer that the command waits for may be late on a busy machine.
   *
   * @param condition the condition
   * @param arguments the words of the command line
   * @return the last result
   */
  public static Run until(Predicate<Run> condition, String... arguments) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    Run run = of(arguments);
    while (!condition.test(run) && System.nanoTime() < end) {
      run = of(arguments);
    }
    return run;
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
