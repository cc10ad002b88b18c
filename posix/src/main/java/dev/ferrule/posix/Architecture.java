// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import java.nio.ByteOrder;

/** The processor architecture of this process. Calls no C function. */
public final class Architecture {

  private static final String NAME = System.getProperty("os.arch");

  private Architecture() {}

  /**
   * Returns whether the numbers and layouts of Linux that this module uses are known: on x86-64,
   * and on little-endian aarch64.
   *
   * @return whether it is one of these
   */
  public static boolean isSupported() {
    return (NAME.equals("amd64") || isAarch64())
        && ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
  }

  static boolean isAarch64() {
    return NAME.equals("aarch64");
  }

  /** {@return the architecture's name in Java, such as amd64 or aarch64} */
  public static String name() {
    return NAME;
  }
}
