// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ConnectionOptionsTest {

  private static final Option<Integer> SLOTS = Option.count("slots", 1, 1000, 16, "how many slots");
  private static final Option<Boolean> SHARED =
      Option.flag("shared", false, "whether it is shared");

  @Test
  void anOptionThatWasNotSetIsAbsent() {
    ConnectionOptions options = ConnectionOptions.defaults();

    assertThat(options.find(SLOTS)).isEmpty();
    assertThat(options.values()).isEmpty();
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

    assertThat(options.find(SLOTS)).hasValue(32);
    assertThat(options.find(SHARED)).hasValue(true);
    assertThat(options.find(StandardOptions.WAIT)).hasValue(WaitStrategy.SPIN);
    assertThat(options.find(StandardOptions.MAX_MESSAGE)).hasValue(4096L);
    assertThat(options.find(StandardOptions.CONNECT_TIMEOUT)).hasValue(Duration.ofMillis(1500));
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
  void aBadValueThatWasSetByNameIsRefusedWhenItIsRead() {
    ConnectionOptions options = ConnectionOptions.builder().set("slots", "lots").build();

    assertThatThrownBy(() -> options.find(SLOTS))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageContaining("slots=lots");
  }

  @Test
  void theOptionsThatWereSetAreListedByNameAndCannotBeChanged() {
    ConnectionOptions options =
        ConnectionOptions.builder().set("sm.ring", "64KiB").set(SLOTS, 2).build();

    assertThat(options.values()).containsExactly(entry("slots", "2"), entry("sm.ring", "64KiB"));
    assertThatThrownBy(() -> options.values().put("slots", "3"))
        .isInstanceOf(UnsupportedOperationException.class);
  }

  @Test
  void aBuilderStartsFromOptionsWithoutChangingThem() {
    ConnectionOptions first =
        ConnectionOptions.builder().set(SLOTS, 2).payload(new byte[] {1}).build();

    ConnectionOptions second = first.toBuilder().set(SLOTS, 3).payload(new byte[] {2}).build();

    assertThat(first.find(SLOTS)).hasValue(2);
    assertThat(first.payload()).containsExactly(1);
    assertThat(second.find(SLOTS)).hasValue(3);
    assertThat(second.payload()).containsExactly(2);
    assertThat(first.toBuilder().build().payload()).containsExactly(1);
  }

  @Test
  void reusingABuilderDoesNotChangeEarlierOptions() {
    ConnectionOptions.Builder builder = ConnectionOptions.builder().set(SLOTS, 2);
    ConnectionOptions options = builder.build();

    builder.set(SLOTS, 3).set(SHARED, true);

    assertThat(options.find(SLOTS)).hasValue(2);
    assertThat(options.find(SHARED)).isEmpty();
  }

  @Test
  void payloadsAreCopied() {
    byte[] bytes = {1, 2, 3};
    ConnectionOptions options = ConnectionOptions.builder().payload(bytes).build();

    bytes[0] = 9;
    options.payload()[1] = 9;

    assertThat(options.payload()).containsExactly(1, 2, 3);
  }

  @Test
  void toStringShowsSetOptionsButNotThePayload() {
    ConnectionOptions options =
        ConnectionOptions.builder()
            .set(SLOTS, 2)
            .set(SHARED, true)
            .payload(new byte[] {42})
            .build();

    assertThat(options).hasToString("{shared=on, slots=2} with a payload of 1 bytes");
    assertThat(ConnectionOptions.defaults()).hasToString("{}");
  }
}
