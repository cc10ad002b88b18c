// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.spi.ConnectionProvider;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FerruleTest {

  private static final String FAKE = FakeProvider.class.getName();
  private static final String ANOTHER = AnotherProvider.class.getName();
  private static final String UNAVAILABLE = UnavailableProvider.class.getName();
  private static final String BROKEN = BrokenProvider.class.getName();
  private static final String NOT_INITIALISABLE = NotInitialisableProvider.class.getName();

  @TempDir Path directory;

  @Test
  void withoutAnyProviderTheMessageSaysWhatToAdd() throws Exception {
    assertThat(run(ConnectToSm.class))
        .isEqualTo(
            "ProviderUnavailableException: sm:///tmp/app: no provider for the scheme 'sm' on"
                + " the class path or module path; Ferrule has dev.ferrule:ferrule-spi-sm, -sendrecv"
                + " and -magicring");
  }

  @Test
  void anUnknownSchemeIsRefusedWithTheKnownOnes() throws Exception {
    assertThat(run(ConnectToSm.class, FAKE, ANOTHER))
        .isEqualTo(
            "ProviderUnavailableException: sm:///tmp/app: no provider for the scheme 'sm' on"
                + " the class path or module path, only for another, fake; Ferrule has"
                + " dev.ferrule:ferrule-spi-sm, -sendrecv and -magicring");
  }

  @Test
  void anAddressWithoutASchemeIsRefusedWithExamples() throws Exception {
    assertThat(run(ConnectWithoutScheme.class, FAKE, ANOTHER))
        .isEqualTo(
            "InvalidAddressException: /tmp/app: the address has no scheme; write one such as"
                + " another://example or fake://example");
    assertThat(run(ConnectWithoutScheme.class)).contains("write one such as sm:///tmp/app");
  }

  @Test
  void aNullArgumentIsNamed() {
    URI address = URI.create("sm:///tmp/app");
    assertNamed("address", () -> Ferrule.connect(null));
    assertNamed("address", () -> Ferrule.listen(null, ConnectionOptions.defaults()));
    assertNamed("options", () -> Ferrule.connect(address, null));
    assertNamed("options", () -> Ferrule.listen(address, null));
    ConnectionOptions.Builder builder = ConnectionOptions.builder();
    assertNamed("wait", () -> builder.set(StandardOptions.WAIT, null));
    assertNamed("name", () -> builder.set((String) null, "1"));
    assertNamed("text", () -> builder.set("wait", (String) null));
    assertNamed("bytes", () -> builder.payload(null));
  }

  private static void assertNamed(String name, ThrowingCallable call) {
    assertThatThrownBy(call).isInstanceOf(NullPointerException.class).hasMessage(name);
  }

  @Test
  void providersAreListedByScheme() throws Exception {
    assertThat(run(ListSchemes.class, FAKE, UNAVAILABLE, ANOTHER))
        .isEqualTo("another, fake, unavailable");
    assertThat(run(ListSchemes.class)).isEmpty();
  }

  @Test
  void aProviderThatFailsToLoadDoesNotHideOthers() throws Exception {
    String[] providers = {
      "dev.ferrule.NoSuchProvider", BROKEN, FAKE, NOT_INITIALISABLE, "java.lang.String", ANOTHER
    };

    assertThat(run(ListSchemes.class, providers)).isEqualTo("another, fake");
  }

  @Test
  void aProviderThatFailsToLoadIsNamedWhenItsSchemeIsMissing() throws Exception {
    assertThat(
            run(ConnectToSm.class, BROKEN, "dev.ferrule.NoSuchProvider", NOT_INITIALISABLE, FAKE))
        .startsWith(
            "ProviderUnavailableException: sm:///tmp/app: no provider for the scheme 'sm' on"
                + " the class path or module path, only for fake; ")
        .contains("not loaded: ")
        .contains(BROKEN)
        .contains("dev.ferrule.NoSuchProvider")
        .contains(NOT_INITIALISABLE);
  }

  @Test
  void anUnavailableProviderStatesTheReasonAndTheRemedy() throws Exception {
    String expected =
        "ProviderUnavailableException: unavailable://host: the unavailable provider is"
            + " unavailable: there is no device; plug one in";

    assertThat(run(ConnectToUnavailable.class, UNAVAILABLE, FAKE)).isEqualTo(expected);
    assertThat(run(ListenOnUnavailable.class, UNAVAILABLE, FAKE)).isEqualTo(expected);
  }

  @Test
  void theProviderOfTheSchemeGetsTheAddressAndTheOptions() throws Exception {
    assertThat(run(Connect.class, ANOTHER, FAKE))
        .isEqualTo("InvalidAddressException: fake://host?slots=5: connect with {}");
    assertThat(run(ConnectWithOptions.class, ANOTHER, FAKE))
        .isEqualTo("InvalidAddressException: fake://host: connect with {colour=green}");
    assertThat(run(Listen.class, ANOTHER, FAKE))
        .isEqualTo("InvalidAddressException: fake://host: listen with {}");
    assertThat(run(ListenWithOptions.class, ANOTHER, FAKE))
        .isEqualTo("InvalidAddressException: fake://host: listen with {colour=green}");
  }

  @Test
  void theCaseOfASchemeDoesNotMatter() throws Exception {
    assertThat(run(ConnectInCapitals.class, FAKE))
        .isEqualTo("InvalidAddressException: FAKE://host: connect with {}");
  }

  @Test
  void providersVisibleOnlyToTheApplicationAreFound() throws Exception {
    IsolatedFerrule application = IsolatedFerrule.with(directory).application(directory, FAKE);

    assertThat(application.run(ListSchemes.class)).isEqualTo("fake");
  }

  private String run(Class<? extends Callable<String>> code, String... providers) throws Exception {
    return IsolatedFerrule.with(directory, providers).run(code);
  }

  /** Code that runs in an {@link IsolatedFerrule} and returns how it ended. */
  abstract static class Attempt implements Callable<String> {

    abstract Object attempt();

    @Override
    public String call() {
      try {
        return String.valueOf(attempt());
      } catch (FerruleException e) {
        return e.getClass().getSimpleName() + ": " + e.getMessage();
      }
    }
  }

  static final class ConnectToSm extends Attempt {
    @Override
    Object attempt() {
      return Ferrule.connect(URI.create("sm:///tmp/app"));
    }
  }

  static final class ConnectWithoutScheme extends Attempt {
    @Override
    Object attempt() {
      return Ferrule.connect(URI.create("/tmp/app"));
    }
  }

  static final class ConnectToUnavailable extends Attempt {
    @Override
    Object attempt() {
      return Ferrule.connect(URI.create("unavailable://host"));
    }
  }

  static final class ListenOnUnavailable extends Attempt {
    @Override
    Object attempt() {
      return Ferrule.listen(URI.create("unavailable://host"));
    }
  }

  static final class Connect extends Attempt {
    @Override
    Object attempt() {
      return Ferrule.connect(URI.create("fake://host?slots=5"));
    }
  }

  static final class ConnectInCapitals extends Attempt {
    @Override
    Object attempt() {
      return Ferrule.connect(URI.create("FAKE://host"));
    }
  }

  static final class ConnectWithOptions extends Attempt {
    @Override
    Object attempt() {
      return Ferrule.connect(
          URI.create("fake://host"), ConnectionOptions.builder().set("colour", "green").build());
    }
  }

  static final class Listen extends Attempt {
    @Override
    Object attempt() {
      return Ferrule.listen(URI.create("fake://host"));
    }
  }

  static final class ListenWithOptions extends Attempt {
    @Override
    Object attempt() {
      return Ferrule.listen(
          URI.create("fake://host"), ConnectionOptions.builder().set("colour", "green").build());
    }
  }

  static final class ListSchemes extends Attempt {
    @Override
    Object attempt() {
      return Ferrule.providers().stream()
          .map(ProviderInfo::scheme)
          .collect(Collectors.joining(", "));
    }
  }

  /** A provider that reports by an exception how it was called. */
  public static class FakeProvider implements ConnectionProvider {
    @Override
    public String scheme() {
      return "fake";
    }

    @Override
    public String description() {
      return "not a real one";
    }

    @Override
    public String exampleAddress() {
      return scheme() + "://example";
    }

    @Override
    public Availability availability() {
      return new Availability.Available();
    }

    @Override
    public List<Option<?>> options() {
      return StandardOptions.all();
    }

    @Override
    public Connection connect(URI address, ConnectionOptions options) {
      throw new InvalidAddressException(address, "connect with " + options, null);
    }

    @Override
    public Listener listen(URI address, ConnectionOptions options) {
      throw new InvalidAddressException(address, "listen with " + options, null);
    }
  }

  /** A second provider. */
  public static final class AnotherProvider extends FakeProvider {
    @Override
    public String scheme() {
      return "another";
    }
  }

  /** A provider that is unavailable. */
  public static final class UnavailableProvider extends FakeProvider {
    @Override
    public String scheme() {
      return "unavailable";
    }

    @Override
    public Availability availability() {
      return new Availability.Unavailable("there is no device", "plug one in");
    }
  }

  /** A provider that cannot be instantiated. */
  public static final class BrokenProvider extends FakeProvider {
    /** Fails. */
    public BrokenProvider() {
      throw new UnsatisfiedLinkError("no such library");
    }
  }

  /** A provider whose class cannot be initialised. */
  public static final class NotInitialisableProvider extends FakeProvider {
    private static final int NEVER = Integer.parseInt("not a number");

    @Override
    public String scheme() {
      return "never" + NEVER;
    }
  }
}
