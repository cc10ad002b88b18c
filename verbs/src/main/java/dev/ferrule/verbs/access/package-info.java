// SPDX-License-Identifier: Apache-2.0
/**
 * Remote memory access over RDMA: the tables by which two sides agree on which memory may be
 * accessed just now. Control plane only; operations go through {@link
 * dev.ferrule.verbs.queue.AccessQueue}.
 */
@NullMarked
package dev.ferrule.verbs.access;

import org.jspecify.annotations.NullMarked;
