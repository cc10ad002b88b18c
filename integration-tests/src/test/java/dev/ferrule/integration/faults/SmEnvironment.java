// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

import dev.ferrule.contract.SystemResources;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Two processes and shared memory. */
final class SmEnvironment implements Environment {

  /**
   * Within the time for a step: a close that found the FIFO full is detected by a keepalive without
   * an answer.
   */
  private static final String PEER_TIMEOUT = "?peerTimeout=15s";

  private static final List<Variant> VARIANTS =
      List.of(
          new Variant(PEER_TIMEOUT + "&maxMessage=4KiB&ring=64KiB&lanes=2", 2000, 12),
          new Variant(PEER_TIMEOUT + "&maxMessage=4KiB&ring=64KiB&wait=block", 4096, 8),
          new Variant(
              PEER_TIMEOUT + "&maxMessage=64KiB&ring=64KiB&buffer=256KiB&wait=block", 40_000, 3),
          new Variant(
              PEER_TIMEOUT + "&maxMessage=1KiB&ring=8KiB&lanes=2&rma=mmap&rmaBuffer=16KiB", 700, 6),
          new Variant(PEER_TIMEOUT + "&maxMessage=64KiB&wait=spin", 65_536, 2));

  private final Path directory;
  private final Host[] hosts = {new ProcessHost(), new ProcessHost()};
  private Host spare = new ProcessHost();

  SmEnvironment() throws IOException {
    directory = Files.createTempDirectory(Path.of("/dev/shm"), "ferrule-test-faults-");
  }

  @Override
  public List<Variant> variants() {
    return VARIANTS;
  }

  @Override
  public String listenAddress() {
    return "sm://" + directory + "/server";
  }

  @Override
  public boolean returnsRoomAtOnce() {
    return true;
  }

  @Override
  public String connectAddress(String listening) {
    return listenAddress();
  }

  @Override
  public Host host(int side) {
    return hosts[side];
  }

  @Override
  public boolean replace(int side) {
    hosts[side].close();
    hosts[side] = spare;
    spare = new ProcessHost(); // starts while the schedule continues
    return true;
  }

  @Override
  public boolean disturb(Random random) {
    return false;
  }

  @Override
  public void calm() {}

  /**
   * Waits for other threads, which may close descriptors and remove files soon after the last
   * connection's close. Then there is no endpoint, so the programs hold nothing. A process that was
   * killed leaves the files of its endpoint to the next process that listens or connects.
   */
  @Override
  public void expectNothingLeft() {
    for (Host host : hosts) {
      expectNone("open files", () -> host.run("files"));
      expectNone("mappings", () -> host.run("mappings"));
    }
    Answer.of(hosts[1].run("listen " + listenAddress())).expectNothing();
    Answer.of(hosts[1].run("unlisten")).expectNothing();
    expectNone("files", () -> "= " + String.join(",", files()));
  }

  private List<String> files() {
    return SystemResources.files(directory).stream()
        .filter(file -> !file.equals(directory.toString()))
        .toList();
  }

  private static void expectNone(String what, Supplier<String> answer) {
    String now = answer.get();
    for (int tries = 0; !now.equals("= ") && tries < 1000; tries++) {
      pause();
      now = answer.get();
    }
    if (!now.equals("= ")) {
      throw new AssertionError(what + " are left: " + now);
    }
  }

  private static void pause() {
    try {
      Thread.sleep(10);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    for (Host host : List.of(hosts[0], hosts[1], spare)) {
      host.close();
    }
    try (Stream<Path> files = Files.walk(directory)) {
      files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
