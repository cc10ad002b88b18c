// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.ferrule.ReceiveRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests of rings in huge pages. An emulated machine allocates the pages; on other machines they
 * must exist. The tests do not run with the others of a device, as User-Mode Linux has no huge
 * pages.
 */
@Tag("huge-pages")
class RingHugePagesTest {

  private static final Path SETTING = Path.of("/proc/sys/vm/nr_hugepages");
  private static final int PAGES = 4;
  private static final int LENGTH = 60_000;
  private static final int MESSAGES = 80; // more bytes than the ring has

  @BeforeEach
  void reserveHugePages() throws IOException {
    if (System.getenv("FERRULE_RXE_VM") != null) {
      Files.writeString(SETTING, Integer.toString(PAGES));
      assertThat(freeHugePages()).isGreaterThanOrEqualTo(PAGES);
    }
    assumeThat(freeHugePages())
        .as("free huge pages of 2 MiB (allocate some as root: echo %s > %s)", PAGES, SETTING)
        .isGreaterThanOrEqualTo(PAGES);
  }

  @Test
  void messagesPassThroughARingInHugePages() throws IOException {
    RingMappings rings = new RingMappings();
    sendManyMessages(rings);
    rings.awaitUnmapped(); // not in the frame of the connection, which would keep it reachable
    assertThat(freeHugePages()).isGreaterThanOrEqualTo(PAGES);
  }

  private static void sendManyMessages(RingMappings rings) {
    try (Wires.Pair pair = Wires.pair("magicring?hugePages=on&ring=2MiB&maxMessage=64KiB")) {
      assertThat(rings.pageSizes())
          .hasSize(2 * 2)
          .containsOnly("2048 kB"); // two rings, each mapped twice
      for (int i = 0; i < MESSAGES; i++) {
        byte[] bytes = new byte[LENGTH - i];
        Arrays.fill(bytes, (byte) i);
        pair.client().sender().send(MemorySegment.ofArray(bytes));
        try (ReceiveRegion message = pair.server().receiver().receive(Task.PATIENCE)) {
          assertThat(message.segment().mismatch(MemorySegment.ofArray(bytes))).isEqualTo(-1);
        }
      }
    }
  }

  @Test
  void aRingWithoutFreeHugePagesIsInNormalPages() throws IOException {
    RingMappings rings = new RingMappings();
    long tooLarge = (freeHugePages() + 1) * 2;
    try (Wires.Pair pair =
        Wires.pair("magicring?hugePages=on&maxMessage=64KiB&ring=" + tooLarge + "MiB")) {
      assertThat(rings.pageSizes()).doesNotContain("2048 kB").isNotEmpty();
      Numbered.send(pair.client().sender(), 1);
      Numbered.check(pair.server().receiver().receive(Task.PATIENCE), 1);
    }
  }

  private static long freeHugePages() throws IOException {
    return Files.readAllLines(Path.of("/proc/meminfo")).stream()
        .filter(line -> line.startsWith("HugePages_Free:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
        .sum();
  }
}
