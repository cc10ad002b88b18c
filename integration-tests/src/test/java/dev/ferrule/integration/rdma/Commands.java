// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/** Runs programs of the operating system. */
final class Commands {

  private Commands() {}

  static void run(String... command) {
    try {
      int code = new ProcessBuilder(command).inheritIO().start().waitFor();
      if (code != 0) {
        throw new AssertionError(List.of(command) + " ended with " + code);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
