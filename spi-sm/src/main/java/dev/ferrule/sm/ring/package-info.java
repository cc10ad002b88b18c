// SPDX-License-Identifier: Apache-2.0
/**
 * The data plane: one direction's record ring and payload lines in shared memory, without
 * connections. {@link dev.ferrule.sm.ring.RingLayout} specifies the layout, {@link
 * dev.ferrule.sm.ring.RingProducer} and {@link dev.ferrule.sm.ring.RingConsumer} are the two sides.
 */
@NullMarked
package dev.ferrule.sm.ring;

import org.jspecify.annotations.NullMarked;
