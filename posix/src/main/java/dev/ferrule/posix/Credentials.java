// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

/**
 * The process that sent a datagram, as reported by the kernel ({@code SCM_CREDENTIALS}).
 *
 * @param pid the process id in this process's PID namespace; 0 if the sender is in no namespace
 *     visible from it
 * @param uid the process's user
 */
public record Credentials(int pid, int uid) {

  /** The credentials of no process. */
  static final Credentials UNKNOWN = new Credentials(0, -1);

  /** {@return the credentials of this process} */
  public static Credentials own() {
    return new Credentials((int) ProcessHandle.current().pid(), Posix.geteuid());
  }

  /** {@return whether the process runs as this process's user} */
  public boolean isOwnUser() {
    return uid == Posix.geteuid();
  }
}
