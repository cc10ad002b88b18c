// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ferrule.bindings.libc.LibC;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A hostile peer that puts other files in the place of its own. */
class PeerFileTest {

  private static final int SIZE = 8192;
  private static final int ANOTHER_USER = 12_345;

  private final Arena arena = Arena.ofConfined();
  private Path base = Path.of("");
  private Path endpoint = Path.of("");
  private Path connection = Path.of("");
  private Path victims = Path.of("");

  @BeforeEach
  void makeEndpoint(@TempDir Path temporary) throws IOException {
    base = Files.createDirectory(temporary.resolve("app"));
    endpoint = Files.createDirectories(base.resolve("7/1"));
    connection = Files.createDirectories(endpoint.resolve("conns/1"));
    victims = Files.createDirectory(temporary.resolve("victims"));
  }

  @AfterEach
  void unmap() {
    arena.close();
  }

  private void assertNotMapped(Path file) {
    assertThatThrownBy(() -> SharedFile.attach(file, SIZE, arena))
        .isInstanceOf(PosixException.class);
  }

  @Test
  void aPeersFileIsMappedAlthoughPathIsBehindALink() throws IOException {
    SharedFile.create(connection.resolve("ring"), SIZE, arena).set(ValueLayout.JAVA_INT, 0, 42);
    Path link = Files.createSymbolicLink(victims.resolve("elsewhere"), base);
    assertThat(
            SharedFile.attach(link.resolve("7/1/conns/1/ring"), SIZE, arena)
                .get(ValueLayout.JAVA_INT, 0))
        .isEqualTo(42);
  }

  @Test
  void aLinkInPlaceOfAnyDirectoryIsNotFollowed() throws IOException {
    Files.createDirectories(victims.resolve("1/conns/1"));
    SharedFile.create(victims.resolve("1/conns/1/ring"), SIZE, arena);
    Files.createSymbolicLink(base.resolve("8"), victims);
    Files.createSymbolicLink(base.resolve("7/2"), victims.resolve("1"));
    Path third = Files.createDirectory(base.resolve("7/3"));
    Files.createSymbolicLink(third.resolve("conns"), victims.resolve("1/conns"));
    Files.createSymbolicLink(endpoint.resolve("conns/2"), victims.resolve("1/conns/1"));

    assertNotMapped(base.resolve("8/1/conns/1/ring"));
    assertNotMapped(base.resolve("7/2/conns/1/ring"));
    assertNotMapped(base.resolve("7/3/conns/1/ring"));
    assertNotMapped(base.resolve("7/1/conns/2/ring"));
  }

  @Test
  void aFileThatWasLinkedFromElsewhereIsNotMapped() throws IOException {
    Path file = victims.resolve("letters");
    SharedFile.create(file, SIZE, arena);
    Files.createSymbolicLink(connection.resolve("buffer"), file);
    assertNotMapped(connection.resolve("buffer"));
    giveToAnother(file);
    assertNotMapped(Files.createLink(connection.resolve("ring"), file));
  }

  private static void giveToAnother(Path file) throws IOException {
    assumeTrue(LibC.geteuid() == 0, "giving a file to another user needs root");
    Files.setAttribute(file, "unix:uid", ANOTHER_USER);
  }

  @Test
  void nobodyKeepsAFileFromBeingMappedByGivingItAnotherName() throws IOException {
    SharedFile.create(connection.resolve("ring"), SIZE, arena);
    Files.createLink(victims.resolve("mine"), connection.resolve("ring"));
    assertThat(SharedFile.attach(connection.resolve("ring"), SIZE, arena).byteSize())
        .isEqualTo(SIZE);
  }

  @Test
  void aFileOfAnotherUserThanTheDirectorysIsNotMapped() throws IOException {
    Path ring = connection.resolve("ring");
    SharedFile.create(ring, SIZE, arena);
    giveToAnother(ring);
    assertNotMapped(ring);
    Files.setAttribute(ring, "unix:uid", 0);
    giveToAnother(connection);
    assertNotMapped(ring);
  }

  @Test
  void aFileWithHolesThatAreToTakeUpOthersMemoryIsNotMapped() throws IOException {
    Path shm = Path.of("/dev/shm");
    assumeTrue(
        Files.isDirectory(shm) && Files.getFileStore(shm).type().equals("tmpfs"),
        "there is no tmpfs at " + shm);
    Path other = Files.createTempDirectory(shm, "ferrule-test");
    try {
      Path sparse = Files.createDirectories(other.resolve("7/1/conns/1")).resolve("ring");
      try (RandomAccessFile file = new RandomAccessFile(sparse.toFile(), "rw")) {
        file.write(1);
        file.setLength(64 << 20);
      }
      assertThatThrownBy(() -> SharedFile.attach(sparse, SIZE, arena))
          .isInstanceOf(PosixException.class)
          .hasMessageContaining("4096 are there");
      Path whole = sparse.resolveSibling("buffer");
      SharedFile.create(whole, SIZE + 1, arena);
      assertThat(SharedFile.attach(whole, SIZE + 1, arena).byteSize()).isEqualTo(SIZE + 1);
    } finally {
      for (String left : new String[] {"7/1/conns/1/ring", "7/1/conns/1/buffer", "7/1/conns/1"}) {
        Files.deleteIfExists(other.resolve(left));
      }
      for (String left : new String[] {"7/1/conns", "7/1", "7", ""}) {
        Files.deleteIfExists(other.resolve(left));
      }
    }
  }

  @Test
  void nothingIsWrittenToAFileInPlaceOfAPipe() throws IOException {
    Path pipe = endpoint.resolve("fifo");
    Files.writeString(victims.resolve("letters"), "kept");
    Files.createLink(pipe, victims.resolve("letters"));
    assertThatThrownBy(() -> new Fifo.Writer(pipe)).isInstanceOf(PosixException.class);
  }

  @Test
  void nothingIsWrittenToAPipeFromElsewhere() throws IOException {
    Path pipe = endpoint.resolve("fifo");
    try (Fifo.Reader reader = new Fifo.Reader(victims.resolve("fifo"))) {
      Files.createSymbolicLink(pipe, victims.resolve("fifo"));
      assertThatThrownBy(() -> new Fifo.Writer(pipe)).isInstanceOf(PosixException.class);
      Files.delete(pipe);
      giveToAnother(victims.resolve("fifo"));
      Files.createLink(pipe, victims.resolve("fifo"));
      assertThatThrownBy(() -> new Fifo.Writer(pipe)).isInstanceOf(PosixException.class);
      assertThat(reader.read()).isZero();
    }
  }

  @Test
  void whatALockSaysIsNotReadFromAFileThatWasLinkedFromElsewhere() throws IOException {
    Path lock = endpoint.resolve("lock");
    giveToAnother(Files.writeString(victims.resolve("letters"), "a secret"));
    Files.createLink(lock, victims.resolve("letters"));
    assertThatThrownBy(() -> OwnerLock.read(lock)).isInstanceOf(PosixException.class);
    assertThat(OwnerLock.isHeld(lock)).isFalse();
  }

  @Test
  void theGroupIsNotLetAtAFileThatWasPutInThePlaceOfAnEndpointsLock() throws IOException {
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
