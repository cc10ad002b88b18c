// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

/**
 * Who may do what to registered memory; the values of {@code enum ibv_access_flags}, to be added.
 */
public final class Access {

  /** The device may write what it receives. Reading needs no right. */
  public static final int LOCAL_WRITE = 1;

  /** The peer may write by RDMA WRITE; needs {@link #LOCAL_WRITE}. */
  public static final int REMOTE_WRITE = 2;

  /** The peer may read by RDMA READ. */
  public static final int REMOTE_READ = 4;

  private Access() {}
}
