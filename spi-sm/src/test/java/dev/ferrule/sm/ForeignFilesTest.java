// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.Ferrule;
import dev.ferrule.InvalidAddressException;
import dev.ferrule.Listener;
import dev.ferrule.posix.Posix;
import dev.ferrule.sm.os.OwnDirectory;
import dev.ferrule.spi.EndpointInfo;
import dev.ferrule.spi.EndpointRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.net.URI;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Files and directories that Ferrule did not create: they stay, whatever their names. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ForeignFilesTest {

  private static final int ANOTHER_USER = 12_345;

  @TempDir Path temporary = Path.of("");
  private Path base = Path.of("");

  @BeforeEach
  void makeBase() throws IOException {
    base = Files.createDirectory(temporary.resolve("app"));
  }

  private URI address(String endpoint) {
    return URI.create("sm://" + base + endpoint);
  }

  @Test
  void shouldNotListenInADirectoryOfNumbersThatHoldsForeignFiles() throws IOException {
    Path november = Files.createDirectories(base.resolve("2024/11"));
    Path report = Files.writeString(november.resolve("report"), "kept");
    Path sock = Files.writeString(november.resolve("sock"), "kept as well");

    assertThatThrownBy(() -> Ferrule.listen(address("/2024/11")))
        .isInstanceOf(InvalidAddressException.class)
        .hasMessageContaining("2024")
        .hasMessageContaining("not created by Ferrule");

    assertThat(report).hasContent("kept");
    assertThat(sock).hasContent("kept as well");
    assertThat(november.resolve("lock")).doesNotExist();
  }

  @Test
  void shouldNotSweepAwayADirectoryOfNumbersThatHoldsAFileCalledLock() throws IOException {
    Path yarn = Files.createDirectories(base.resolve("7/8"));
    Path lock = Files.writeString(yarn.resolve("lock"), "another program's");
    OwnDirectory.create(base.resolve("9"));
    Path nested = Files.createDirectory(base.resolve("9/9"));
    Path lockInOwnPid = Files.writeString(nested.resolve("lock"), "another's");

    Ferrule.listen(address("")).close();

    assertThat(lock).hasContent("another program's");
    assertThat(lockInOwnPid).hasContent("another's");
  }

  @Test
  void shouldNeitherClaimNorSweepThroughASymbolicLink() throws IOException {
    OwnDirectory.create(temporary.resolve("target"));
    Path sock = Files.writeString(temporary.resolve("target/sock"), "kept");
    Path lock = Files.writeString(temporary.resolve("target/lock"), "kept");
    OwnDirectory.create(base.resolve("3"));
    Files.createSymbolicLink(base.resolve("3/4"), temporary.resolve("target"));
    Files.createSymbolicLink(base.resolve("5"), temporary);

    Ferrule.listen(address("")).close();
    assertThatThrownBy(() -> Ferrule.listen(address("/3/4")))
        .isInstanceOf(InvalidAddressException.class)
        .hasMessageContaining("3/4 exists");
    assertThatThrownBy(() -> Ferrule.listen(address("/5/6")))
        .isInstanceOf(InvalidAddressException.class);

    assertThat(sock).hasContent("kept");
    assertThat(lock).hasContent("kept");
  }

  @Test
  void shouldReclaimItsOwnUsersEndpointAndLeaveForeignFilesInIt() throws IOException {
    OwnDirectory.create(base.resolve("3"));
    Path endpoint = base.resolve("3/4");
    OwnDirectory.create(endpoint);
    OwnDirectory.create(endpoint.resolve("conns"));
    OwnDirectory.create(endpoint.resolve("conns/1"));
    Files.writeString(endpoint.resolve("conns/1/memory"), "a dead owner's");
    Files.writeString(endpoint.resolve("sock"), "not a socket");
    Files.writeString(endpoint.resolve("fifo"), "not a pipe");
    Files.writeString(endpoint.resolve("lock"), "stale");
    Path notes = Files.writeString(endpoint.resolve("notes"), "kept");
    Path outside = Files.writeString(base.resolve("outside"), "kept");
    Files.createSymbolicLink(endpoint.resolve("conns/2"), outside);

    try (Listener listener = Ferrule.listen(address("/3/4"))) {
      assertThat(listener.uri()).isEqualTo(address("/3/4"));
      assertThat(endpoint.resolve("conns/1")).doesNotExist();
    }

    assertThat(notes).hasContent("kept");
    assertThat(outside).hasContent("kept");
    assertThat(endpoint.resolve("lock")).doesNotExist();
    assertThat(endpoint.resolve("sock")).doesNotExist();
  }

  @Test
  void shouldNotHangOnAPipeThatIsCalledLock() throws Exception {
    for (String pid : new String[] {"11", "12"}) {
      Path endpoint = base.resolve(pid + "/1");
      if (pid.equals("11")) {
        OwnDirectory.create(endpoint.getParent());
        OwnDirectory.create(endpoint);
      } else {
        Files.createDirectories(endpoint);
      }
      Process mkfifo = new ProcessBuilder("mkfifo", endpoint.resolve("lock").toString()).start();
      assertThat(mkfifo.waitFor()).isZero();
    }

    assertThatThrownBy(() -> Ferrule.connect(address("")))
        .isInstanceOf(ConnectionRefusedException.class)
        .hasMessageContaining("no live listener");
    assertThatThrownBy(() -> Ferrule.connect(address("/11/1")))
        .isInstanceOf(ConnectionRefusedException.class)
        .hasMessageContaining("no listener at ");
    try (Listener listener = Ferrule.listen(address(""))) {
      assertThat(listener.uri().toString()).startsWith(address("").toString());
    }
  }

  @Test
  void shouldUseAnotherNumberWhereAnotherUsersProcessHasOurs() throws IOException {
    Path taken = Files.createDirectory(base.resolve(Long.toString(ProcessHandle.current().pid())));

    try (Listener listener = Ferrule.listen(address(""))) {
      assertThat(listener.uri().toString()).matches(".*/app/[0-9]{7,8}/1");
    }

    assertThat(taken).isEmptyDirectory();
  }

  @Test
  void shouldRemoveEmptyDirectoriesThatAKilledProcessLeft() {
    OwnDirectory.create(base.resolve("128"));
    OwnDirectory.create(base.resolve("128/1"));
    OwnDirectory.create(base.resolve("129"));

    Ferrule.listen(address("")).close();

    assertThat(base).isEmptyDirectory();
  }

  @Test
  void shouldListenBelowADirectoryWhoseNameHasALineEnd() throws IOException {
    Path odd = Files.createDirectory(temporary.resolve("a\nb"));
    URI address = URI.create("sm://" + temporary + "/a%0Ab");
    try (Listener listener = Ferrule.listen(address)) {
      CompletableFuture<Connection> connecting =
          CompletableFuture.supplyAsync(() -> Ferrule.connect(address));
      listener.accept().close();
      connecting.join().close();
    }
    assertThat(odd).isEmptyDirectory();
  }

  @Test
  void shouldPreferItsOwnUsersListenerToAnothers() throws Exception {
    assumeTrue(Posix.geteuid() == 0, "giving a directory to another user needs root");
    try (Listener own = Ferrule.listen(address(""));
        Listener other = Ferrule.listen(address("/77/1"))) {
      Path directory = Path.of(other.uri().getPath());
      for (Path each : List.of(directory.getParent(), directory, directory.resolve("lock"))) {
        Files.setAttribute(each, "unix:uid", ANOTHER_USER);
      }
      CompletableFuture<Connection> connecting =
          CompletableFuture.supplyAsync(() -> Ferrule.connect(address("")));
      own.accept().close();
      connecting.join().close();
      for (Path each : List.of(directory.getParent(), directory, directory.resolve("lock"))) {
        Files.setAttribute(each, "unix:uid", 0);
      }
    }
  }

  @Test
  void shouldReportADirectoryInWhichNoFileCanBeCreated() {
    assertThatThrownBy(() -> Ferrule.listen(URI.create("sm:///proc/ferrule")))
        .isInstanceOf(InvalidAddressException.class)
        .hasMessageContaining("/proc/ferrule")
        .hasMessageContaining("choose another directory");
  }

  @Test
  void shouldReportThatAllEndpointsOfADirectoryBelongToAnotherUser() throws Exception {
    assumeTrue(Posix.geteuid() == 0, "acting as another user needs root");
    open(temporary);
    open(base);
    try (Listener listener = Ferrule.listen(address(""))) {
      for (URI address : new URI[] {address(""), listener.uri()}) {
        assertThatThrownBy(() -> asAnotherUser(() -> Ferrule.connect(address)))
            .cause()
            .isInstanceOf(ConnectionRefusedException.class)
            .hasMessageContaining("owned by another user")
            .hasMessageContaining("same user");
      }
    }
  }

  @Test
  void anUnreadableDirectoryIsNotReportedAsMissingOrEmpty() throws Exception {
    assumeTrue(Posix.geteuid() == 0, "acting as another user needs root");
    try (Listener listener = Ferrule.listen(address(""))) {
      for (URI address : new URI[] {address(""), listener.uri()}) {
        assertThatThrownBy(() -> asAnotherUser(() -> list(address)))
            .rootCause()
            .isInstanceOf(AccessDeniedException.class);
      }
      open(temporary);
      open(base);
      asAnotherUser(() ->
          assertThat(list(address("")))
              .singleElement()
              .satisfies(other -> {
                assertThat(other.state()).isEqualTo(EndpointInfo.State.UNKNOWN);
                assertThat(listener.uri().toString()).startsWith(other.address() + "/");
                assertThat(other.description()).contains("user id 0", "denied");
              }));
      assertThatThrownBy(() -> asAnotherUser(() -> list(listener.uri())))
          .rootCause()
          .isInstanceOf(AccessDeniedException.class);
    }
  }

  private static EndpointRegistry registry() {
    return new SmProvider().endpointRegistry().orElseThrow();
  }

  private static List<EndpointInfo> list(URI address) {
    try {
      return registry().list(address);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void everyEndpointReportedAsRemovableIsRemoved() throws IOException {
    endpoint("11", "lock");
    endpoint("12", "lock", "notes");
    endpoint("13");
    endpoint("14", "notes");
    endpoint("15", "lock");
    if (Posix.geteuid() == 0) {
      Files.setAttribute(base.resolve("15/1"), "unix:uid", ANOTHER_USER);
    } else {
      Files.delete(base.resolve("15/1/lock"));
      Files.writeString(base.resolve("15/1/notes"), "");
    }

    assertThat(registry().list(address("")))
        .hasSize(5)
        .extracting(EndpointInfo::state)
        .containsOnly(EndpointInfo.State.STALE);
    List<EndpointInfo> promised = registry().removable(address(""));
    assertThat(promised)
        .extracting(endpoint -> endpoint.address())
        .containsExactly(address("/11/1"), address("/12/1"), address("/13/1"));
    assertThat(registry().clean(address(""))).isEqualTo(promised);

    assertThat(registry().removable(address(""))).isEmpty();
    assertThat(base.resolve("12/1/notes")).exists();
    assertThat(base.resolve("14/1/notes")).exists();
    assertThat(base.resolve("15/1")).exists();
  }

  /** Creates an endpoint whose owner is dead. */
  private void endpoint(String pid, String... files) throws IOException {
    Path endpoint = base.resolve(pid + "/1");
    OwnDirectory.create(endpoint.getParent());
    OwnDirectory.create(endpoint);
    for (String file : files) {
      Files.writeString(endpoint.resolve(file), "");
    }
  }

  @Test
  void theFirstLineOfALockFileIsItsDescription() throws IOException {
    endpoint("11", "lock");
    Files.writeString(base.resolve("11/1/lock"), "client   of process 1\n99, version 1\n");
    assertThat(registry().list(address("")))
        .singleElement()
        .satisfies(one -> assertThat(one.description()).isEqualTo("client of process 1"));
  }

  @Test
  void whereAnotherUserHasTakenAllNamesTheErrorSuggestsAnotherDirectory() throws IOException {
    assumeTrue(Posix.geteuid() == 0, "giving a directory to another user needs root");
    long pid = ProcessHandle.current().pid();
    for (int i = 0; i < 10; i++) {
      Path taken = Files.createDirectory(base.resolve(Long.toString(pid + i * (1L << 22))));
      Files.setAttribute(taken, "unix:uid", ANOTHER_USER);
    }
    for (String endpoint : List.of("", "/" + pid + "/1")) {
      assertThatThrownBy(() -> Ferrule.listen(address(endpoint)))
          .isInstanceOf(InvalidAddressException.class)
          .hasMessageContaining("any of them can take all names first")
          .hasMessageContaining("a new directory of this user");
    }
  }

  @Test
  void aDirectoryInWhichAllUsersMayRenameFilesCausesOneWarning() throws IOException {
    List<String> warnings = new ArrayList<>();
    Logger logger = Logger.getLogger("dev.ferrule.sm.endpoint.EndpointDirectory");
    Handler handler =
        new Handler() {
          @Override
          public void publish(LogRecord log) {
            warnings.add(log.getMessage());
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    logger.addHandler(handler);
    logger.setUseParentHandlers(false);
    try {
      Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwxrwxrwx"));
      Files.setAttribute(base, "unix:mode", 01777);
      Ferrule.listen(address("")).close();
      assertThat(warnings).isEmpty();
      Files.setAttribute(base, "unix:mode", 0777);
      Ferrule.listen(address("")).close();
      Ferrule.listen(address("")).close();
      assertThat(warnings)
          .singleElement()
          .satisfies(text -> assertThat(text).contains("sticky bit", "chmod +t " + base));
    } finally {
      logger.removeHandler(handler);
      logger.setUseParentHandlers(true);
    }
  }

  private static void open(Path directory) throws IOException {
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** Runs an action with another user's file access, which is a property of one thread. */
  private static void asAnotherUser(Runnable action) throws CompletionException {
    CompletableFuture.runAsync(
            () -> {
              setFileSystemUser(ANOTHER_USER);
              action.run();
            },
            task -> Thread.ofPlatform().start(task))
        .join();
  }

  private static void setFileSystemUser(int uid) {
    Linker linker = Linker.nativeLinker();
    MethodHandle setfsuid =
        linker.downcallHandle(
            linker.defaultLookup().findOrThrow("setfsuid"),
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    try {
      int before = (int) setfsuid.invokeExact(uid);
      assertThat(before).isNotEqualTo(uid);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }
}
