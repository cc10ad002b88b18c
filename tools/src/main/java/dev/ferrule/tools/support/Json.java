// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;

/** Formats JSON for all commands: indented, and escaping only where necessary. */
public final class Json {

  private Json() {}

  /**
   * {@return the text of a value, terminated by a newline}
   *
   * @param value the value; properties that are null are omitted
   */
  public static String format(JsonElement value) {
    StringWriter text = new StringWriter();
    JsonWriter writer = new JsonWriter(text);
    writer.setIndent("  ");
    writer.setHtmlSafe(false);
    writer.setSerializeNulls(false);
    try {
      new Gson().getAdapter(JsonElement.class).write(writer, value);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // cannot happen: the output is a string
    }
    return text.append('\n').toString();
  }
}
