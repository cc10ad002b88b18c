// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/** Two processes and shared memory. */
final class SmEnvironment implements Environment {

  private static final List<Variant> VARIANTS =
      List.of(
          new Variant("?maxMessage=4KiB&ring=64KiB&lanes=2", 2000, 12),
          new Variant("?maxMessage=4KiB&ring=64KiB&wait=block", 4096, 8),
          new Variant("?maxMessage=64KiB&ring=64KiB&buffer=256KiB&wait=block", 40_000, 3),
          new Variant("?maxMessage=1KiB&ring=8KiB&lanes=2&rma=mmap&rmaBuffer=16KiB", 700, 6),
          new Variant("?maxMessage=64KiB&wait=spin", 65_536, 2));

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
   * Waits for another thread, which may close descriptors soon after the last connection's close.
   */
  @Override
  public void expectNothingLeft() {
    for (Host host : hosts) {
      String open = host.run("files");
      for (int tries = 0; !open.equals("= ") && tries < 1000; tries++) {
        pause();
        open = host.run("files");
      }
      if (!open.equals("= ")) {
        throw new AssertionError("files are left open: " + open);
      }
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
