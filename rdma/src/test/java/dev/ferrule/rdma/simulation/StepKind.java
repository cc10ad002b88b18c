// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

/** The kinds of steps of devices and the network. They can be delayed separately. */
public enum StepKind {
  /** A work request is executed at the peer. */
  TRANSMISSION,
  /** A completion is added to its queue. */
  COMPLETION,
  /** A message or an event of the connection manager arrives. */
  CONNECTION
}
