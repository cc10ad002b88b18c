// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.ExposedMemory;
import dev.ferrule.Ferrule;
import dev.ferrule.InvalidOptionException;
import dev.ferrule.Listener;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.RemoteMemory;
import dev.ferrule.RmaRight;
import dev.ferrule.sm.os.OwnDirectory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The permissions of an endpoint's files, by their modes. Access by two real users is tested in
 * containers, in integration-tests.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AccessTest {

  private static final int PERMISSIONS = 07777;

  @TempDir Path directory = Path.of("");

  private URI address(String rest) {
    return URI.create("sm://" + directory + "/app" + rest);
  }

  private Map<String, String> modes() throws IOException {
    Map<String, String> modes = new TreeMap<>();
    try (Stream<Path> files = Files.walk(directory.resolve("app"))) {
      for (Path file : files.toList()) {
        modes.put(directory.relativize(file).toString(), Integer.toOctalString(mode(file)));
      }
    }
    return modes;
  }

  private static int mode(Path file) throws IOException {
    return (int) Files.getAttribute(file, "unix:mode") & PERMISSIONS;
  }

  @Test
  void anAddressGivesNoGroupTheAccessThatTheProgramDenies() {
    ConnectionOptions own = ConnectionOptions.builder().set("sm.access", "user").build();

    assertThatThrownBy(() -> Ferrule.listen(address("/3/2?access=group"), own))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageContaining("the program has set access=user")
        .hasMessageContaining("the address's query access=group");
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void anAddressDoesNotTakeBackTheAccessThatTheProgramGives() {
    ConnectionOptions own = ConnectionOptions.builder().set("access", "group").build();

    assertThatThrownBy(() -> Ferrule.connect(address("/3/2?access=user"), own))
        .isInstanceOf(InvalidOptionException.class)
        .hasMessageContaining("the program has set access=group");
  }

  @Test
  void anAddressMayRepeatTheAccessThatTheProgramGives() throws IOException {
    ConnectionOptions own = ConnectionOptions.builder().set("access", "group").build();

    try (Listener listener = Ferrule.listen(address("/3/2?access=group"), own)) {
      assertThat(listener.uri().getPath()).isEqualTo(directory + "/app/3/2");
    }
  }

  /** Opens a connection whose client has every kind of file. */
  private Map<String, String> modesOfAConnection(String options) throws IOException {
    try (Arena arena = Arena.ofShared();
        Listener listener = Ferrule.listen(address("/3/4" + options))) {
      URI server = URI.create(listener.uri() + options);
      CompletableFuture<Connection> connecting =
          CompletableFuture.supplyAsync(() -> Ferrule.connect(server));
      try (Connection accepted = listener.accept();
          Connection client = connecting.join();
          ExposedMemory memory = accepted.rma().expose(arena.allocate(8), RmaRight.WRITE);
          RegisteredMemory local = client.register(arena.allocate(8))) {
        RemoteMemory remote = client.rma().attach(memory.handle());
        client.rma().await(client.rma().write(local, 0, remote, 0, 8));
        return modes();
      }
    }
  }

  @Test
  void shouldDenyAccessToAllOthersByDefault() throws IOException {
    assertThat(modesOfAConnection("?rma=mmap").entrySet())
        .filteredOn(one -> !one.getKey().endsWith("/sock"))
        .isNotEmpty()
        .allSatisfy(one -> assertThat(one.getValue()).isIn("1700", "600"));
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void shouldLetTheGroupUseAPeersFilesAndRemoveNoneWhateverTheUmask() throws IOException {
    Map<String, String> modes = modesOfAConnection("?rma=mmap&access=group");

    String client = "app/" + ProcessHandle.current().pid() + "/1";
    assertThat(modes).containsEntry("app", "1770");
    for (String endpoint : List.of("app/3/4", client)) {
      assertThat(modes)
          .containsEntry(Path.of(endpoint).getParent().toString(), "1750")
          .containsEntry(endpoint, "1750")
          .containsEntry(endpoint + "/lock", "640")
          .containsEntry(endpoint + "/sock", "620")
          .containsEntry(endpoint + "/fifo", "620")
          .containsEntry(endpoint + "/conns", "1750");
      assertThat(modes.entrySet())
          .filteredOn(one -> one.getKey().matches(endpoint + "/conns/[0-9]+"))
          .extracting(Map.Entry::getValue)
          .containsExactly("1750");
    }
    // others may use it, and users create such directories, too
    assertThat(directory.resolve("app")).isEmptyDirectory();
  }

  @Test
  void shouldDenyTheGroupAccessToFilesThatADeadOwnerHadSharedWithIt() throws IOException {
    OwnDirectory.create(directory.resolve("app"));
    for (String dead : List.of("app/3", "app/3/4")) {
      OwnDirectory.create(directory.resolve(dead));
      Files.setAttribute(directory.resolve(dead), "unix:mode", 01750);
    }
    Path notes = Files.writeString(directory.resolve("app/3/4/notes"), "so that it is not removed");

    try (Listener listener = Ferrule.listen(address("/3/4"))) {
      assertThat(mode(Path.of(listener.uri().getPath()))).isEqualTo(01700);
    }

    assertThat(notes).exists();
  }

  @Test
  void shouldOpenOneEndpointOfAProcessToTheGroupAndNoOther() throws IOException {
    try (Listener own = Ferrule.listen(address("/3/1"));
        Listener common = Ferrule.listen(address("/3/2?access=group"))) {
      assertThat(mode(Path.of(own.uri().getPath()))).isEqualTo(01700);
      assertThat(mode(Path.of(common.uri().getPath()))).isEqualTo(01750);
    }
  }
}
