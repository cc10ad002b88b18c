// SPDX-License-Identifier: Apache-2.0

/**
 * The data plane that both RDMA providers share: send and receive queues, and the inboxes between
 * them and the program. What a provider's protocol adds is a {@link
 * dev.ferrule.verbs.queue.SendProtocol} for one direction, and a {@link
 * dev.ferrule.verbs.queue.Channel} for the other. Nothing here allocates per message.
 */
@NullMarked
package dev.ferrule.verbs.queue;

import org.jspecify.annotations.NullMarked;
