// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class JsonDocumentTest {

  @Test
  void theTextIsAsciiWhateverItContains() {
    String text = "B\u00fccher, \u672c, \ud83d\ude00, \u007f, \"quoted\\\n";
    JsonDocument document = new JsonDocument("ferrule.none/1", Instant.EPOCH);
    document.properties().addProperty("text", text);

    assertThat(StandardCharsets.US_ASCII.newEncoder().canEncode(document.format())).isTrue();
    assertThat(document.format()).contains("\"B\\u00fccher, ").endsWith("}\n");
    assertThat(new Gson().fromJson(document.format(), JsonObject.class).get("text").getAsString())
        .isEqualTo(text);
  }
}
