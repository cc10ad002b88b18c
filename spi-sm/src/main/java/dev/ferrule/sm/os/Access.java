// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

/** The users that may use the files that a process creates. */
public enum Access {
  /** Processes of the same user. */
  USER,

  /**
   * Also processes in the files' group, which is the group of the creating process, or that of the
   * parent directory if its setgid bit is set. They may connect and write as a peer does; they can
   * neither create nor remove files.
   */
  GROUP;

  /** How to let a process of one user use the files of another user's process. */
  public static final String FIX =
      "run both processes as the same user, or give them a common group and set the option"
          + " access=group";
}
