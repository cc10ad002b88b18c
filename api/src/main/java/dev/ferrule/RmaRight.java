// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

/** What the peer may do with {@linkplain Rma#expose exposed} memory. */
public enum RmaRight {
  /** {@link Rma#read} from it. */
  READ,

  /** {@link Rma#write} to it. */
  WRITE
}
