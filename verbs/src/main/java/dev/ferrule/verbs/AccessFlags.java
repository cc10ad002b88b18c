// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

/**
 * Access rights of registered memory: the values of {@code enum ibv_access_flags}, to be combined
 * by OR.
 */
public final class AccessFlags {

  /**
   * The device may write to the memory for local work requests, such as receives. Local read access
   * is always enabled.
   */
  public static final int LOCAL_WRITE = 1;

  /** The peer may write by RDMA WRITE; requires {@link #LOCAL_WRITE}. */
  public static final int REMOTE_WRITE = 2;

  /** The peer may read by RDMA READ. */
  public static final int REMOTE_READ = 4;

  /** The peer may change words by atomic operations; requires {@link #LOCAL_WRITE}. */
  public static final int REMOTE_ATOMIC = 8;

  private AccessFlags() {}
}
