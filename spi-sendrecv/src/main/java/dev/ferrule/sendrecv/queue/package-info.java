// SPDX-License-Identifier: Apache-2.0

/**
 * The data plane specific to {@code sendrecv}: receive buffers and credits. The queues are shared
 * by both RDMA providers, in {@code dev.ferrule.rdma.queue}. Nothing here allocates per message.
 */
@NullMarked
package dev.ferrule.sendrecv.queue;

import org.jspecify.annotations.NullMarked;
