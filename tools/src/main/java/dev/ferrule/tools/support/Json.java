// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;

/** Writes JSON the way all commands do: indented, and with nothing escaped that need not be. */
public final class Json {

  private Json() {}

  /**
   * Formats a value.
   *
   * @param value the value
   * @return its text, ended by a newline
   */
  public static String format(JsonElement value) {
    StringWriter text = new StringWriter();
    JsonWriter writer = new JsonWriter(text);
    writer.setIndent("  ");
    writer.setHtmlSafe(false);
    try {
      new Gson().getAdapter(JsonElement.class).write(writer, value);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // not from a string
    }
    return text.append('\n').toString();
  }
}
