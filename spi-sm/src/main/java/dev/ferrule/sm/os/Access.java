// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

/** The users that may use what a process creates. */
public enum Access {
  /** Processes of the same user. */
  USER,

  /**
   * Also processes in the group of the files: that of the process, or of the parent directory if
   * its setgid bit is set. They may connect, and write what a peer writes; they can neither create
   * nor remove anything.
   */
  GROUP
}
