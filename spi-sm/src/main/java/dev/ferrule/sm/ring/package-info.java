// SPDX-License-Identifier: Apache-2.0
/**
 * The data plane: one direction's header ring and payload lines in shared memory, without
 * connections, waiting or system calls. {@link dev.ferrule.sm.ring.RingLayout} says where
 * everything lies, {@link dev.ferrule.sm.ring.RingProducer} and {@link
 * dev.ferrule.sm.ring.RingConsumer} are the two sides. {@link
 * dev.ferrule.sm.ring.ConcurrentRingProducer} sends in place of the former for several threads.
 */
@NullMarked
package dev.ferrule.sm.ring;

import org.jspecify.annotations.NullMarked;
