// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.magicring.ring;

/** When a receiver acknowledges freed messages while the sender has space. */
public enum Acknowledge {

  /** Every time that a message is freed. */
  EACH,

  /** When a quarter of the window or of the ring can be acknowledged. */
  BATCHED
}
