// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConnectionOptionsTest {

  private static final Option<Integer> SLOTS = Option.count("slots", 1, 1000, 16, "how many slots");
  private static final Option<Boolean> SHARED =
      Option.flag("shared", false, "whether it is shared");
  private static final List<Option<?>> KNOWN =
      List.of(
          SLOTS,
          SHARED,
          StandardOptions.WAIT,
          StandardOptions.MAX_MESSAGE,
          StandardOptions.CONNECT_TIMEOUT);

  @Test
  void anUnsetOptionHasItsDefault() {
    ConnectionOptions options = ConnectionOptions.defaults();

    assertThat(options.get(SLOTS)).isEqualTo(16);
    assertThat(options.isSet(SLOTS)).isFalse();
    assertThat(options.payload()).isEmpty();
  }

  @Test
  void setOptionsAreReturned() {
    ConnectionOptions options =
        ConnectionOptions.builder()
            .set(SLOTS, 32)
            .set("shared", "yes")
            .set(StandardOptions.WAIT, WaitStrategy.SPIN)
            .set(StandardOptions.MAX_MESSAGE, 4096L)
            .set(StandardOptions.CONNECT_TIMEOUT, Duration.ofMillis(1500))
            .build();

    assertThat(options.get(SLOTS)).isEqualTo(32);
    assertThat(options.isSet(SLOTS)).isTrue();
    assertThat(options.get(SHARED)).isTrue();
    assertThat(options.get(StandardOptions.WAIT)).isEqualTo(WaitStrategy.SPIN);
    assertThat(options.get(StandardOptions.MAX_MESSAGE)).isEqualTo(4096);
    assertThat(options.get(StandardOptions.CONNECT_TIMEOUT)).isEqualTo(Duration.ofMillis(1500));
  }

  @Test
  void aValueOutOfRangeIsRefusedWhenItIsSet() {
    ConnectionOptions.Builder builder = ConnectionOptions.builder();

    assertThatThrownBy(() -> builder.set(SLOTS, 0))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageContaining("slots=0");
    assertThatThrownBy(() -> builder.set(StandardOptions.MAX_MESSAGE, 0L))
        .isInstanceOf(InvalidOptionException.class);
    assertThatThrownBy(() -> builder.set(StandardOptions.CONNECT_TIMEOUT, Duration.ofSeconds(-1)))
        .isInstanceOf(InvalidOptionException.class);
  }

  @Test
  void aBadValueThatWasSetByNameIsRefusedWhenItIsUsed() {
    ConnectionOptions options = ConnectionOptions.builder().set("slots", "lots").build();

    assertThatThrownBy(() -> options.get(SLOTS))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageContaining("slots=lots");
    assertThatThrownBy(() -> options.resolve(URI.create("sm:///tmp/app"), KNOWN))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageContaining("slots=lots")
        .hasMessageStartingWith("sm:///tmp/app: ");
  }

  @Test
  void ofSeveralUnknownOptionsTheFirstByNameIsNamed() {
    ConnectionOptions.Builder builder = ConnectionOptions.builder();
    List.of("d", "b", "g", "a", "f", "c", "e").forEach(name -> builder.set(name, "1"));

    assertThatThrownBy(() -> builder.build().resolve(URI.create("sm:///tmp/app"), KNOWN))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageContaining("unknown option 'a'");
  }

  @Test
  void aBuilderStartsFromOptionsWithoutChangingThem() {
    ConnectionOptions first =
        ConnectionOptions.builder().set(SLOTS, 2).payload(new byte[] {1}).build();

    ConnectionOptions second = first.toBuilder().set(SLOTS, 3).payload(new byte[] {2}).build();

    assertThat(first.get(SLOTS)).isEqualTo(2);
    assertThat(first.payload()).containsExactly(1);
    assertThat(second.get(SLOTS)).isEqualTo(3);
    assertThat(second.payload()).containsExactly(2);
    assertThat(first.toBuilder().build().payload()).containsExactly(1);
  }

  @Test
  void reusingABuilderDoesNotChangeEarlierOptions() {
    ConnectionOptions.Builder builder = ConnectionOptions.builder().set(SLOTS, 2);
    ConnectionOptions options = builder.build();

    builder.set(SLOTS, 3).set(SHARED, true);

    assertThat(options.get(SLOTS)).isEqualTo(2);
    assertThat(options.isSet(SHARED)).isFalse();
  }

  @Test
  void payloadsAreCopied() {
    byte[] bytes = {1, 2, 3};
    ConnectionOptions options = ConnectionOptions.builder().payload(bytes).build();

    bytes[0] = 9;
    options.payload()[1] = 9;

    assertThat(options.payload()).containsExactly(1, 2, 3);
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
  void optionsOfTheAddressTakePrecedence(URI address, int slots) {
    ConnectionOptions options = ConnectionOptions.builder().set(SLOTS, 7).build();

    assertThat(options.resolve(address, KNOWN).get(SLOTS)).isEqualTo(slots);
    assertThat(options.get(SLOTS)).isEqualTo(7);
  }

  @Test
  void anOptionOfAnotherSchemeIsIgnored() {
    ConnectionOptions options =
        ConnectionOptions.builder().set("sendrecv.slots", "lots").set("sm.slots", "32").build();

    assertThat(options.resolve(URI.create("sm:///x"), KNOWN).get(SLOTS)).isEqualTo(32);
    assertThat(options.resolve(URI.create("magicring://host"), KNOWN).get(SLOTS)).isEqualTo(16);
  }

  @Test
  void anOptionOfTheSchemeTakesPrecedenceOverOneForAllAndTheAddressOverBoth() {
    ConnectionOptions options =
        ConnectionOptions.builder().set("sm.slots", "32").set(SLOTS, 64).build();

    assertThat(options.resolve(URI.create("sm:///x"), KNOWN).get(SLOTS)).isEqualTo(32);
    assertThat(options.resolve(URI.create("SM:///x?slots=8"), KNOWN).get(SLOTS)).isEqualTo(8);
    assertThat(options.resolve(URI.create("sendrecv://host"), KNOWN).get(SLOTS)).isEqualTo(64);
  }

  @Test
  void anUnknownOptionOfTheSchemeIsRefused() {
    ConnectionOptions options = ConnectionOptions.builder().set("sm.slot", "32").build();

    assertThatThrownBy(() -> options.resolve(URI.create("sm:///x"), KNOWN))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageContaining("unknown option 'slot'; valid options: ");
  }

  @Test
  void theSchemeOfAnOptionIsCaseInsensitive() {
    ConnectionOptions options =
        ConnectionOptions.builder().set("SM.slots", "32").set("SendRecv.receives", "8").build();

    assertThat(options.resolve(URI.create("sm:///x"), KNOWN).get(SLOTS)).isEqualTo(32);
  }

  @Test
  void anUnknownSchemeOfAnOptionIsRefused() {
    ConnectionOptions options = ConnectionOptions.builder().set("sn.slots", "32").build();

    assertThatThrownBy(() -> options.resolve(URI.create("sm:///x"), KNOWN))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageContaining(
            "unknown scheme in option 'sn.slots'; known schemes: magicring, sendrecv, sm");
  }

  @Test
  void aFlagNeedsNoValueInTheAddress() {
    ConnectionOptions options = ConnectionOptions.defaults();

    assertThat(options.resolve(URI.create("sm:///tmp/app?shared"), KNOWN).get(SHARED)).isTrue();
    assertThat(options.resolve(URI.create("sm:///tmp/app?shared=no"), KNOWN).get(SHARED)).isFalse();
  }

  @Test
  void resolvingKeepsThePayload() {
    ConnectionOptions options = ConnectionOptions.builder().payload(new byte[] {5}).build();

    assertThat(options.resolve(URI.create("sm:///tmp/app?slots=5"), KNOWN).payload())
        .containsExactly(5);
  }

  @Test
  void anUnknownOptionIsRefusedWithTheKnownOnesInOrder() {
    assertThatThrownBy(
            () -> ConnectionOptions.defaults().resolve(URI.create("sm:///tmp/app?slot=5"), KNOWN))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessage(
            "sm:///tmp/app?slot=5: unknown option 'slot'; valid options: connectTimeout,"
                + " maxMessage, shared, slots, wait");
    assertThatThrownBy(() ->
            ConnectionOptions.builder()
                .set("colour", "green")
                .build()
                .resolve(URI.create("sm:///tmp/app"), KNOWN))
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

    assertThatThrownBy(() -> ConnectionOptions.defaults().resolve(address, KNOWN))
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
    assertThatThrownBy(
            () -> ConnectionOptions.defaults().resolve(URI.create("sm:///tmp/app?" + query), KNOWN))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageContaining(why);
  }

  @Test
  void toStringShowsSetOptionsButNotThePayload() {
    ConnectionOptions options =
        ConnectionOptions.builder()
            .set(SLOTS, 2)
            .set(SHARED, true)
            .payload(new byte[] {42})
            .build();

    assertThat(options).hasToString("{shared=true, slots=2} with a payload of 1 bytes");
    assertThat(ConnectionOptions.defaults()).hasToString("{}");
  }
}
