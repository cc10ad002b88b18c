// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.transport;

/** The use of a connection, for which a library may have a class or an option. */
public enum Mode {
  /** One thread sends on each side; the receiving thread polls. */
  ONE_SENDER,

  /** Several threads of the client send on the connection; the receiving thread polls. */
  SEVERAL_SENDERS,

  /** One thread sends on each side; the receiving thread blocks until a message arrives. */
  BLOCKED_RECEIVER
}
