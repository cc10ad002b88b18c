// SPDX-License-Identifier: Apache-2.0

/**
 * The data plane: send and receive queues, buffers, credits. Nothing here allocates per message.
 */
@NullMarked
package dev.ferrule.sendrecv.queue;

import org.jspecify.annotations.NullMarked;
