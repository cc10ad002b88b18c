// SPDX-License-Identifier: Apache-2.0

/**
 * Connections, listeners, senders and receivers over RDMA, common to both RDMA providers, over the
 * queues of {@code dev.ferrule.rdma.queue}. Each provider implements {@link
 * dev.ferrule.rdma.connection.RdmaProtocol}.
 */
@NullMarked
package dev.ferrule.rdma.connection;

import org.jspecify.annotations.NullMarked;
