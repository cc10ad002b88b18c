// SPDX-License-Identifier: Apache-2.0

/**
 * What the data plane has of sendrecv's own: receive buffers and credits. The queues themselves are
 * those of both RDMA providers, in {@code dev.ferrule.verbs.queue}. Nothing here allocates per
 * message.
 */
@NullMarked
package dev.ferrule.sendrecv.queue;

import org.jspecify.annotations.NullMarked;
