// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

/**
 * The sizes of a queue pair.
 *
 * @param sends work requests in its send queue
 * @param receives work requests in its receive queue; 0 with a shared receive queue
 * @param inline maximum inline bytes of a work request
 */
public record QueuePairSizes(int sends, int receives, int inline) {}
