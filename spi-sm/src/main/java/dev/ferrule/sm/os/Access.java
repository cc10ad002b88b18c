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
  GROUP;

  /** What to do where one user's process cannot use what another's has created. */
  public static final String FIX =
      "run both processes as the same user, or give them a common group and set the option"
          + " access=group";
}
