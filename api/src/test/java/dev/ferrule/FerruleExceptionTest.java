// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.net.URI;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class FerruleExceptionTest {

  private static final URI ADDRESS = URI.create("sm:///tmp/app/4567/2");
  private static final Exception CAUSE = new IllegalArgumentException("the cause");

  /** Creates an exception of one kind. */
  interface Kind {
    FerruleException make(URI uri, String message, Throwable cause);
  }

  static Stream<Kind> kinds() {
    return Stream.of(
        FerruleException::new,
        AddressInUseException::new,
        (uri, message, cause) -> new ConnectionClosedException(uri, true, message, cause),
        ConnectionRefusedException::new,
        EndOfStreamException::new,
        InvalidAddressException::new,
        InvalidOptionException::new,
        OperationInterruptedException::new,
        OperationTimeoutException::new,
        PeerLostException::new,
        ProtocolException::new,
        ProviderUnavailableException::new,
        ResourceExhaustedException::new,
        VersionMismatchException::new);
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void theMessageNamesTheConnection(Kind kind) {
    FerruleException exception = kind.make(ADDRESS, "it broke; fix it", CAUSE);

    assertThat(exception).hasMessage("sm:///tmp/app/4567/2: it broke; fix it").hasCause(CAUSE);
    assertThat(exception.uri()).isEqualTo(ADDRESS);
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void withoutAConnectionTheMessageHasNoPrefix(Kind kind) {
    FerruleException exception = kind.make(null, "it broke; fix it", null);

    assertThat(exception).hasMessage("it broke; fix it").hasNoCause();
    assertThat(exception.uri()).isNull();
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void exceptionsCanBeSerialised(Kind kind) throws IOException, ClassNotFoundException {
    FerruleException exception = kind.make(ADDRESS, "it broke", CAUSE);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(exception);
    }

    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      assertThat((FerruleException) in.readObject())
          .isExactlyInstanceOf(exception.getClass())
          .hasMessage(exception.getMessage());
    }
  }

  @Test
  void aClosedConnectionExceptionNamesTheClosingSide() {
    assertThat(new ConnectionClosedException(ADDRESS, true, "closed", null).closedByPeer())
        .isTrue();
    assertThat(new ConnectionClosedException(ADDRESS, false, "closed", null).closedByPeer())
        .isFalse();
  }

  @Test
  void aMessageThatIsTooLongStatesBothLengthsAndTheFix() {
    MessageTooLongException exception = new MessageTooLongException(ADDRESS, 5_000_000_000L, 1024);

    assertThat(exception)
        .hasMessage(
            "sm:///tmp/app/4567/2: message too long: 5000000000 bytes exceed the limit of"
                + " 1024 bytes; send it in parts, or raise maxMessage on the receiving side,"
                + " and buffer on this one if it is smaller");
    assertThat(exception.length()).isEqualTo(5_000_000_000L);
    assertThat(exception.maxMessage()).isEqualTo(1024);
  }

  @Test
  void aRejectionHoldsACopyOfItsPayloadAndDoesNotPrintIt() {
    byte[] payload = {1, 2, 3};
    ConnectionRejectedException exception = new ConnectionRejectedException(ADDRESS, payload);
    payload[0] = 9;
    exception.payload()[1] = 9;

    assertThat(exception.payload()).containsExactly(1, 2, 3);
    assertThat(exception)
        .hasMessage(
            "sm:///tmp/app/4567/2: the listener rejected the connection with payload() of 3 bytes");
    assertThat(new ConnectionRejectedException(ADDRESS, new byte[0]))
        .hasMessage("sm:///tmp/app/4567/2: the listener rejected the connection");
  }

  @Test
  void anAvailabilityStatesTheReasonAndTheRemedy() {
    assertThat(new Availability.Available()).hasToString("available");
    assertThat(new Availability.Available().available()).isTrue();
    assertThat(
            new Availability.Unavailable(
                "libibverbs.so.1 is not installed", "install the package ibverbs-providers"))
        .hasToString(
            "not available: libibverbs.so.1 is not installed; install the package"
                + " ibverbs-providers");
    assertThat(new Availability.Unavailable("x", "y").available()).isFalse();
  }
}
