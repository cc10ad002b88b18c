// SPDX-License-Identifier: Apache-2.0

/** Native memory: rings that are mapped twice, and large allocations. */
@NullMarked
package dev.ferrule.rdma.memory;

import org.jspecify.annotations.NullMarked;
