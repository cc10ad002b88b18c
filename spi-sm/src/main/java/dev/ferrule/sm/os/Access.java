// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

/** Who may use what a process makes. */
public enum Access {
  /** Processes of the same user. */
  USER,

  /**
   * Processes in the group of what is made as well: that of the process, or of the directory above
   * if that passes its group on (the setgid bit). They may connect, and write what a peer writes;
   * they can neither make nor remove anything.
   */
  GROUP
}
