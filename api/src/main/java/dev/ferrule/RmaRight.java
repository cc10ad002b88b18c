// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

/** A right of the peer on {@linkplain Rma#expose exposed} memory. */
public enum RmaRight {
  /** The peer may {@link Rma#read} from the memory. */
  READ,

  /** The peer may {@link Rma#write} to the memory. */
  WRITE,

  /** The peer may {@link Rma#fetchAndAdd} and {@link Rma#compareAndSwap} words of the memory. */
  ATOMIC
}
