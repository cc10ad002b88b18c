// SPDX-License-Identifier: Apache-2.0

/**
 * The data path common to both RDMA providers: send and receive queues, and the message queues
 * between them and the program. A provider's protocol implements {@link
 * dev.ferrule.rdma.queue.SendProtocol} for sending and {@link dev.ferrule.rdma.queue.Channel} for
 * receiving. No method allocates per message.
 */
@NullMarked
package dev.ferrule.rdma.queue;

import org.jspecify.annotations.NullMarked;
