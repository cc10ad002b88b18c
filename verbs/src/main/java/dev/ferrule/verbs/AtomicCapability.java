// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

/** With respect to what a device's atomic operations are atomic: {@code enum ibv_atomic_cap}. */
public enum AtomicCapability {
  /** The device has no atomic operations. */
  NONE,
  /** Other atomic operations by the same device. */
  DEVICE,
  /** All atomic accesses to the memory, also those of processors and of other devices. */
  GLOBAL;

  /** Returns the constant of a number; NONE if it is unknown. */
  static AtomicCapability of(int code) {
    return code > 0 && code < values().length ? values()[code] : NONE;
  }
}
