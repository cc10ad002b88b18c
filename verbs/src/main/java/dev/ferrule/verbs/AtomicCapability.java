// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

/** The scope in which a device's atomic operations are atomic: {@code enum ibv_atomic_cap}. */
public enum AtomicCapability {
  /** The device has no atomic operations. */
  NONE,
  /** Atomic with respect to other atomic operations of the same device. */
  DEVICE,
  /**
   * Atomic with respect to all atomic accesses, including those of processors and other devices.
   */
  GLOBAL;

  /** Returns the constant of a number; NONE if it is unknown. */
  static AtomicCapability of(int code) {
    return code > 0 && code < values().length ? values()[code] : NONE;
  }
}
