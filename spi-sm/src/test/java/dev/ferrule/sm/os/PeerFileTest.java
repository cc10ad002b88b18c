// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ferrule.posix.Fifo;
import dev.ferrule.posix.FileStatus;
import dev.ferrule.posix.Posix;
import dev.ferrule.posix.PosixException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A hostile peer that replaces its own files by others. */
class PeerFileTest {

  private static final int ANOTHER_USER = 12_345;

  private Path base = Path.of("");
  private Path endpoint = Path.of("");
  private Path victims = Path.of("");

  @BeforeEach
  void makeEndpoint(@TempDir Path temporary) throws IOException {
    base = Files.createDirectory(temporary.resolve("app"));
    endpoint = Files.createDirectories(base.resolve("7/1"));
    victims = Files.createDirectory(temporary.resolve("victims"));
  }

  private static void assertNotOpened(Path file) {
    assertThatThrownBy(() -> OwnerLock.read(file)).isInstanceOf(PosixException.class);
  }

  @Test
  void aPeersFileIsOpenedAlthoughPathIsBehindALink() throws IOException {
    Files.writeString(endpoint.resolve("lock"), "a listener");
    Path link = Files.createSymbolicLink(victims.resolve("elsewhere"), base);
    assertThat(OwnerLock.read(link.resolve("7/1/lock"))).isEqualTo("a listener");
  }

  @Test
  void aLinkInPlaceOfAnyDirectoryIsNotFollowed() throws IOException {
    Files.writeString(Files.createDirectory(victims.resolve("1")).resolve("lock"), "a secret");
    Files.createSymbolicLink(base.resolve("8"), victims);
    Files.createSymbolicLink(base.resolve("7/2"), victims.resolve("1"));

    assertNotOpened(base.resolve("8/1/lock"));
    assertNotOpened(base.resolve("7/2/lock"));
  }

  private static void giveToAnother(Path file) throws IOException {
    assumeTrue(Posix.geteuid() == 0, "giving a file to another user needs root");
    Files.setAttribute(file, "unix:uid", ANOTHER_USER);
  }

  @Test
  void aFileOfAnotherUserThanTheDirectorysIsNotOpened() throws IOException {
    Path lock = Files.writeString(endpoint.resolve("lock"), "a secret");
    giveToAnother(lock);
    assertNotOpened(lock);
    Files.setAttribute(lock, "unix:uid", 0);
    giveToAnother(endpoint);
    assertNotOpened(lock);
  }

  private static int openForWriting(Path pipe) {
    return PeerFile.open(pipe, PeerFile.OF_ENDPOINT, FileStatus.FIFO, Posix.O_WRONLY);
  }

  @Test
  void nothingIsWrittenToAFileInPlaceOfAPipe() throws IOException {
    Path pipe = endpoint.resolve("fifo");
    Files.writeString(victims.resolve("letters"), "kept");
    Files.createLink(pipe, victims.resolve("letters"));
    assertThatThrownBy(() -> openForWriting(pipe)).isInstanceOf(PosixException.class);
  }

  @Test
  void nothingIsWrittenToAPipeFromElsewhere() throws IOException {
    Path pipe = endpoint.resolve("fifo");
    try (Fifo.Reader reader = new Fifo.Reader(victims.resolve("fifo"))) {
      Files.createSymbolicLink(pipe, victims.resolve("fifo"));
      assertThatThrownBy(() -> openForWriting(pipe)).isInstanceOf(PosixException.class);
      Files.delete(pipe);
      giveToAnother(victims.resolve("fifo"));
      Files.createLink(pipe, victims.resolve("fifo"));
      assertThatThrownBy(() -> openForWriting(pipe)).isInstanceOf(PosixException.class);
      assertThat(reader.read()).isZero();
    }
  }

  @Test
  void aLocksDescriptionIsNotReadFromAFileThatWasLinkedFromElsewhere() throws IOException {
    Path lock = endpoint.resolve("lock");
    giveToAnother(Files.writeString(victims.resolve("letters"), "a secret"));
    Files.createLink(lock, victims.resolve("letters"));
    assertThatThrownBy(() -> OwnerLock.read(lock)).isInstanceOf(PosixException.class);
    assertThat(OwnerLock.isHeld(lock)).isFalse();
  }

  @Test
  void theGroupGainsNoAccessToAFileInPlaceOfAnEndpointsLock() throws IOException {
    OwnDirectory.create(victims.resolve("own"));
    OwnDirectory.setAccess(victims.resolve("own"), Access.GROUP);
    Path secret = Files.writeString(victims.resolve("secret"), "");
    Files.setAttribute(secret, "unix:mode", 0600);
    Path place = Files.createLink(victims.resolve("own/lock"), secret);
    try (OwnerLock lock = OwnerLock.tryAcquire(place)) {
      assertThat(lock).isNotNull();
      assertThatThrownBy(lock::letGroupRead).isInstanceOf(PosixException.class);
    }
    assertThat((int) Files.getAttribute(secret, "unix:mode") & 0777).isEqualTo(0600);
  }

  @Test
  void aReadLockOfAnotherDoesNotMakeADeadEndpointLive() throws Exception {
    Path lock = Files.writeString(endpoint.resolve("lock"), "listener of a dead process");
    try (var channel = java.nio.channels.FileChannel.open(lock);
        var reading = channel.lock(0, Long.MAX_VALUE, true)) {
      assertThat(reading.isShared()).isTrue();
      assertThat(OwnerLock.isHeld(lock)).isFalse();
    }
    try (OwnerLock owner = OwnerLock.tryAcquire(lock)) {
      assertThat(owner).isNotNull();
      assertThat(OwnerLock.isHeld(lock)).isTrue();
    }
  }
}
