// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.FerruleException;
import java.net.URI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Text from a peer must not reach a terminal as an escape sequence. */
class PlainTextTest {

  private static final char ESCAPE = 0x1b;
  private static final String CLEAR_SCREEN = ESCAPE + "[2J";

  @Test
  void plainTextOfAnyScriptRemainsTheSameObject() {
    for (String text : new String[] {"", "no room: 3 of 4", "größer, 大きい, 🦀"}) {
      assertThat(PlainText.of(text)).isSameAs(text);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 7, 8, 9, 10, 13, 0x1b, 0x7f, 0x85, 0x9b, 0x200b, 0x2028, 0x2029, 0x202e})
  void charactersThatDoNotDisplayAsThemselvesAreEscaped(int character) {
    String text = "a" + Character.toString(character) + "b";
    assertThat(PlainText.of(text)).isEqualTo(String.format("a\\u%04xb", character));
  }

  @Test
  void unpairedSurrogatesAndSupplementaryCharactersAreEscapedAsUtf16Units() {
    assertThat(PlainText.of("x" + (char) 0xd800)).isEqualTo("x\\ud800");
    assertThat(PlainText.of(Character.toString(0xe0001))).isEqualTo("\\udb40\\udc01");
  }

  @Test
  void escapedTextRemainsUnchanged() {
    String once = PlainText.of(CLEAR_SCREEN);
    assertThat(PlainText.of(once)).isSameAs(once);
  }

  @Test
  void exceptionMessagesContainNoControlCharacters() {
    URI address = URI.create("sm:///tmp/%1B%5B2Japp");
    FerruleException failure =
        new ConnectionRefusedException(
            address, "there is no " + address.getPath() + "; said:\n" + CLEAR_SCREEN, null);
    assertThat(failure)
        .hasMessage(address + ": there is no /tmp/\\u001b[2Japp; said:\\u000a\\u001b[2J");
  }

  @Test
  void anEndpointsDescriptionContainsNoControlCharacters() {
    EndpointInfo info =
        new EndpointInfo(
            URI.create("sm:///tmp/app/1/1"), EndpointInfo.State.LIVE, CLEAR_SCREEN, 0, 0);
    assertThat(info.description()).isEqualTo("\\u001b[2J");
  }
}
