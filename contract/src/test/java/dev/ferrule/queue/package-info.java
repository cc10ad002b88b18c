// SPDX-License-Identifier: Apache-2.0
/**
 * A provider for two ends in one process, as a developer outside this project would write it: it
 * uses {@code dev.ferrule} and {@code dev.ferrule.spi} only. It shows what a provider must do, and
 * that the contract can be passed without Ferrule's other modules.
 *
 * <p>Each end of a connection owns its memory: slots for messages that it sends, and slots for
 * those that it receives. Sending copies a message into the slot of the other end. One lock guards
 * the two ends, and every wait is for a change under that lock.
 */
@NullMarked
package dev.ferrule.queue;

import org.jspecify.annotations.NullMarked;
