// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.InvalidOptionException;
import dev.ferrule.Option;
import dev.ferrule.StandardOptions;
import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ResolvedOptionsTest {

  private static final Option<Integer> SLOTS = Option.count("slots", 1, 1000, 16, "how many slots");
  private static final Option<Boolean> SHARED =
      Option.flag("shared", false, "whether it is shared");
  private static final Option<Boolean> OPEN =
      Option.flag("open", false, "whether others have access").withoutQueryOverride();
  private static final List<Option<?>> KNOWN =
      List.of(
          SLOTS,
          SHARED,
          OPEN,
          StandardOptions.WAIT,
          StandardOptions.MAX_MESSAGE.withDefault(64L << 10),
          StandardOptions.CONNECT_TIMEOUT);

  private static ResolvedOptions resolve(ConnectionOptions options, String address) {
    return ResolvedOptions.of(options, URI.create(address), KNOWN);
  }

  @Test
  void anOptionThatWasNotSetHasTheDefaultOfTheProvider() {
    ResolvedOptions options = resolve(ConnectionOptions.defaults(), "sm:///x");

    assertThat(options.get(SLOTS)).isEqualTo(16);
    assertThat(options.get(SLOTS.withDefault(8))).isEqualTo(16);
    assertThat(options.get(StandardOptions.MAX_MESSAGE)).isEqualTo(64 << 10);
  }

  @Test
  void anOptionThatTheProviderDoesNotHaveHasNoValue() {
    ResolvedOptions options = resolve(ConnectionOptions.defaults(), "sm:///x");

    assertThatThrownBy(() -> options.get(StandardOptions.BACKLOG))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("backlog");
  }

  @ParameterizedTest
  @ValueSource(strings = {"open", "sm.open", "SM.open"})
  void aQueryThatDiffersFromTheProgramInAnOptionThatTouchesSecurityIsRefused(String name) {
    ConnectionOptions options = ConnectionOptions.builder().set(name, "false").build();

    assertThatThrownBy(() -> resolve(options, "sm:///x?open=on"))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageStartingWith("sm:///x?open=on: ")
        .hasMessageContaining("the program has set open=false")
        .hasMessageContaining("the address's query open=on");
  }

  @Test
  void aQueryMayRepeatWhatTheProgramHasSet() {
    ConnectionOptions options = ConnectionOptions.builder().set(OPEN, true).build();

    assertThat(resolve(options, "sm:///x?open=on").get(OPEN)).isTrue();
  }

  @Test
  void aQueryMaySetWhatTheProgramHasNotSet() {
    ConnectionOptions options = ConnectionOptions.builder().set("sendrecv.open", "off").build();

    assertThat(resolve(ConnectionOptions.defaults(), "sm:///x?open=on").get(OPEN)).isTrue();
    assertThat(resolve(options, "sm:///x?open=on").get(OPEN)).isTrue();
  }

  @Test
  void theProgramsOwnValueForTheSchemeIsNoContradiction() {
    ConnectionOptions options =
        ConnectionOptions.builder().set(OPEN, true).set("sm.open", "off").build();

    assertThat(resolve(options, "sm:///x").get(OPEN)).isFalse();
    assertThatCode(() -> resolve(options, "sm:///x?open=off")).doesNotThrowAnyException();
  }

  @Test
  void aBadValueThatWasSetByNameIsRefusedWhenItIsUsed() {
    ConnectionOptions options = ConnectionOptions.builder().set("slots", "lots").build();

    assertThatThrownBy(() -> resolve(options, "sm:///tmp/app"))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageContaining("slots=lots")
        .hasMessageStartingWith("sm:///tmp/app: ");
  }

  @Test
  void ofSeveralUnknownOptionsTheFirstByNameIsNamed() {
    ConnectionOptions.Builder builder = ConnectionOptions.builder();
    List.of("d", "b", "g", "a", "f", "c", "e").forEach(name -> builder.set(name, "1"));

    assertThatThrownBy(() -> resolve(builder.build(), "sm:///tmp/app"))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageContaining("unknown option 'a'");
  }

  @ParameterizedTest
  @CsvSource({
    "sm:///tmp/app?slots=5, 5",
    "sm:///tmp/app?shared=true&slots=5, 5",
    "sm:///tmp/app?slots=5#fragment, 5",
    "sendrecv://host:4711?slots=5, 5",
    "sm:///tmp/app?slots=%35, 5",
    "sm:///tmp/app?sl%6Fts=5, 5",
    "sm:///tmp/app, 7",
    "sm:///tmp/app?, 7",
    "sm:///tmp/app?shared, 7"
  })
  void optionsOfTheAddressTakePrecedence(String address, int slots) {
    ConnectionOptions options = ConnectionOptions.builder().set(SLOTS, 7).build();

    assertThat(resolve(options, address).get(SLOTS)).isEqualTo(slots);
    assertThat(options.find(SLOTS)).hasValue(7);
  }

  @Test
  void anOptionOfAnotherSchemeIsIgnored() {
    ConnectionOptions options =
        ConnectionOptions.builder().set("sendrecv.slots", "lots").set("sm.slots", "32").build();

    assertThat(resolve(options, "sm:///x").get(SLOTS)).isEqualTo(32);
    assertThat(resolve(options, "magicring://host").get(SLOTS)).isEqualTo(16);
  }

  @Test
  void anOptionOfTheSchemeTakesPrecedenceOverOneForAllAndTheAddressOverBoth() {
    ConnectionOptions options =
        ConnectionOptions.builder().set("sm.slots", "32").set(SLOTS, 64).build();

    assertThat(resolve(options, "sm:///x").get(SLOTS)).isEqualTo(32);
    assertThat(resolve(options, "SM:///x?slots=8").get(SLOTS)).isEqualTo(8);
    assertThat(resolve(options, "sendrecv://host").get(SLOTS)).isEqualTo(64);
  }

  @Test
  void anUnknownOptionOfTheSchemeIsRefused() {
    ConnectionOptions options = ConnectionOptions.builder().set("sm.slot", "32").build();

    assertThatThrownBy(() -> resolve(options, "sm:///x"))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageContaining("unknown option 'slot'; valid options: ");
  }

  @Test
  void theSchemeOfAnOptionIsCaseInsensitive() {
    ConnectionOptions options =
        ConnectionOptions.builder().set("SM.slots", "32").set("SendRecv.receives", "8").build();

    assertThat(resolve(options, "sm:///x").get(SLOTS)).isEqualTo(32);
  }

  @Test
  void anUnknownSchemeOfAnOptionIsRefused() {
    ConnectionOptions options = ConnectionOptions.builder().set("sn.slots", "32").build();

    assertThatThrownBy(() -> resolve(options, "sm:///x"))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageContaining(
            "unknown scheme in option 'sn.slots'; known schemes: magicring, sendrecv, sm");
  }

  @Test
  void aFlagNeedsNoValueInTheAddress() {
    ConnectionOptions options = ConnectionOptions.defaults();

    assertThat(resolve(options, "sm:///tmp/app?shared").get(SHARED)).isTrue();
    assertThat(resolve(options, "sm:///tmp/app?shared=no").get(SHARED)).isFalse();
  }

  @Test
  void resolvingKeepsThePayload() {
    ConnectionOptions options = ConnectionOptions.builder().payload(new byte[] {5}).build();

    assertThat(resolve(options, "sm:///tmp/app?slots=5").payload()).containsExactly(5);
  }

  @Test
  void anUnknownOptionIsRefusedWithTheKnownOnesInOrder() {
    assertThatThrownBy(() -> resolve(ConnectionOptions.defaults(), "sm:///tmp/app?slot=5"))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessage(
            "sm:///tmp/app?slot=5: unknown option 'slot'; valid options: connectTimeout,"
                + " maxMessage, open, shared, slots, wait");
    assertThatThrownBy(() ->
            resolve(ConnectionOptions.builder().set("colour", "green").build(), "sm:///tmp/app"))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageContaining("'colour'");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "slots=0",
        "slots=1001",
        "slots=",
        "slots",
        "slots=a",
        "wait=never",
        "maxMessage=4GiB",
        "connectTimeout=0"
      })
  void aBadValueInTheAddressIsRefusedWithTheAddress(String query) {
    URI address = URI.create("sm:///tmp/app?" + query);

    assertThatThrownBy(() -> resolve(ConnectionOptions.defaults(), address.toString()))
        .isInstanceOfSatisfying(
            InvalidOptionException.class, e -> assertThat(e.uri()).isEqualTo(address))
        .hasMessageContaining(query.replaceFirst("=.*", ""));
  }

  @ParameterizedTest
  @CsvSource({
    "slots=5&slots=6, is given twice",
    "shared&shared, is given twice",
    "=5, without a name",
    "&, without a name",
    "slots=5&, without a name"
  })
  void aMalformedQueryIsRefused(String query, String why) {
    assertThatThrownBy(() -> resolve(ConnectionOptions.defaults(), "sm:///tmp/app?" + query))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageContaining(why);
  }
}
