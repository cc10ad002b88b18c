// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** The mappings of this process, as listed by the kernel. */
public final class Mappings {

  private static final Path MAPS = Path.of("/proc/self/maps");

  /** Index, behind a line's first space, of s for shared or p for private. */
  private static final int KIND = 4;

  private Mappings() {}

  /**
   * Returns whether memory lies in shared mappings only ({@code MAP_SHARED}), whose pages a write
   * never replaces by private copies. Reads the whole list, so it is slow.
   *
   * @param address the memory's address in this process
   * @param length its length in bytes, at least 1
   * @return whether all of it is mapped, and shared; false if that cannot be determined
   */
  public static boolean areShared(long address, long length) {
    long end = address + length;
    long covered = address;
    // file names in it are bytes of any encoding
    try (BufferedReader lines = Files.newBufferedReader(MAPS, StandardCharsets.ISO_8859_1)) {
      String line = lines.readLine(); // such as 7f0000000000-7f0000001000 r--s, by address
      while (covered < end && line != null) {
        int dash = line.indexOf('-');
        int space = line.indexOf(' ');
        long from = Long.parseUnsignedLong(line, 0, dash, 16);
        long to = Long.parseUnsignedLong(line, dash + 1, space, 16);
        if (from <= covered && covered < to) {
          if (line.charAt(space + KIND) != 's') {
            return false;
          }
          covered = to;
        }
        line = lines.readLine();
      }
      return covered >= end;
    } catch (IOException e) {
      return false;
    }
  }
}
