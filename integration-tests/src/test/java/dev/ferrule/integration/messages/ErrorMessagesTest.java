// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.messages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.ferrule.Ferrule;
import dev.ferrule.FerruleException;
import dev.ferrule.magicring.MagicRingProvider;
import dev.ferrule.sendrecv.SendRecvProvider;
import java.io.BufferedReader;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What a user reads when something fails: each row is a mistake and the whole message. A message
 * states what failed, why, and what to do. Words in capitals stand for parts that differ from run
 * to run.
 */
@Timeout(value = 90, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ErrorMessagesTest {

  @TempDir Path directory;

  static Stream<Mistake> ofSm() {
    return Stream.of(
            AddressMistakes.addresses(),
            AddressMistakes.options(),
            AddressMistakes.handshake(),
            ConnectionMistakes.ends(),
            ConnectionMistakes.messages(),
            ConnectionMistakes.remoteMemory(),
            ConnectionMistakes.threads())
        .flatMap(List::stream);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("ofSm")
  void aFailureOfSmStatesWhatFailedWhyAndWhatToDo(Mistake mistake) throws Exception {
    check(Fixture.ofSm(directory), mistake);
  }

  static Stream<Mistake> ofSendRecv() {
    return Stream.of(RdmaMistakes.sendrecv(), RdmaMistakes.device()).flatMap(List::stream);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("ofSendRecv")
  void aFailureOfSendRecvStatesWhatFailedWhyAndWhatToDo(Mistake mistake) throws Exception {
    check(Fixture.ofRdma(directory, SendRecvProvider::new), mistake);
  }

  static List<Mistake> ofMagicRing() {
    return RdmaMistakes.magicring();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("ofMagicRing")
  void aFailureOfMagicRingStatesWhatFailedWhyAndWhatToDo(Mistake mistake) throws Exception {
    check(Fixture.ofRdma(directory, MagicRingProvider::new), mistake);
  }

  private static void check(Fixture fixture, Mistake mistake) throws Exception {
    try (fixture) {
      Throwable failure = catchThrowable(() -> mistake.action().run(fixture));
      assertThat(failure).as("failure").isNotNull();
      assertThat(fixture.readable(failure)).isEqualTo(mistake.message());
    }
  }

  @Test
  void theMessageForAMissingDeviceStatesHowToGetOne() {
    assumeThat(Ferrule.providers().stream().filter(it -> it.scheme().equals("sendrecv")))
        .as("sendrecv is unavailable on this machine")
        .noneMatch(it -> it.availability().available());
    assertThat(catchThrowable(() -> Ferrule.connect(URI.create("sendrecv://127.0.0.1:1"))))
        .hasMessageStartingWith("sendrecv://127.0.0.1:1: the sendrecv provider is unavailable: ");
  }

  @Test
  void theMessageForAJvmThatDoesNotPermitNativeAccessNamesTheFlag() throws Exception {
    Process process =
        LostPeer.java(Connecting.class, "--illegal-native-access=deny")
            .command("sm:///tmp/app", "sendrecv://127.0.0.1:1")
            .start();
    try (BufferedReader output = process.inputReader()) {
      assertThat(output.lines().map(line -> line.replaceAll("file:[^)]*", "file:PATH")))
          .containsExactly(
              "ProviderUnavailableException: sm:///tmp/app: the sm provider is unavailable: the JVM"
                  + " does not let sm call C functions (java.lang.IllegalCallerException: Illegal"
                  + " native access from an unnamed module (file:PATH)); start it with"
                  + " --enable-native-access=ALL-UNNAMED, or on the module path with"
                  + " --enable-native-access=dev.ferrule.posix",
              "ProviderUnavailableException: sendrecv://127.0.0.1:1: the sendrecv provider is"
                  + " unavailable: the JVM does not permit calls of C functions; start it with"
                  + " --enable-native-access=ALL-UNNAMED, or on the module path with"
                  + " --enable-native-access=dev.ferrule.posix,dev.ferrule.verbs");
    } finally {
      process.destroyForcibly();
    }
  }

  /** Connects to each address, and prints the failures. */
  static final class Connecting {

    private Connecting() {}

    public static void main(String[] addresses) {
      for (String address : addresses) {
        try {
          Ferrule.connect(URI.create(address)).close();
        } catch (FerruleException e) {
          System.out.println(e.getClass().getSimpleName() + ": " + e.getMessage());
        }
      }
    }
  }
}
