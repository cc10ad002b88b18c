// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import dev.ferrule.bindings.libc.LibC;

/**
 * The process that has sent a datagram, as the kernel knows it ({@code SCM_CREDENTIALS}).
 *
 * @param pid the process, as this one's PID namespace counts; 0 if it is in no namespace that this
 *     process sees
 * @param uid the process's user
 */
public record Credentials(int pid, int uid) {

  /** Those of no process. */
  static final Credentials UNKNOWN = new Credentials(0, -1);

  /**
   * Returns those of this process.
   *
   * @return the credentials
   */
  public static Credentials own() {
    return new Credentials((int) ProcessHandle.current().pid(), LibC.geteuid());
  }

  /**
   * Returns whether the process is one of this process's user.
   *
   * @return whether it is
   */
  public boolean isOwnUser() {
    return uid == LibC.geteuid();
  }
}
