// SPDX-License-Identifier: Apache-2.0

/**
 * The data path specific to {@code sendrecv}: receive buffers and credits. The queues, common to
 * both RDMA providers, are in {@code dev.ferrule.rdma.queue}. No method allocates per message.
 */
@NullMarked
package dev.ferrule.sendrecv.queue;

import org.jspecify.annotations.NullMarked;
