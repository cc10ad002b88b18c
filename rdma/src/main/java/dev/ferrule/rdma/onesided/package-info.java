// SPDX-License-Identifier: Apache-2.0
/**
 * Remote memory access over RDMA: the tables by which two sides agree on the accessible memory. The
 * package contains only the control path; operations use {@link
 * dev.ferrule.rdma.queue.OneSidedOperations}.
 */
@NullMarked
package dev.ferrule.rdma.onesided;

import org.jspecify.annotations.NullMarked;
