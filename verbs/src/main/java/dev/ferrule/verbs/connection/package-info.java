// SPDX-License-Identifier: Apache-2.0

/**
 * Connections over RDMA, as both RDMA providers make, watch and end them, and the senders and
 * receivers of programs over the queues of {@code dev.ferrule.verbs.queue}. What a provider brings
 * is an {@link dev.ferrule.verbs.connection.RdmaProtocol}.
 */
@NullMarked
package dev.ferrule.verbs.connection;

import org.jspecify.annotations.NullMarked;
