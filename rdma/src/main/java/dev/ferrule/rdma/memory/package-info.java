// SPDX-License-Identifier: Apache-2.0

/** Large allocations of native memory. */
@NullMarked
package dev.ferrule.rdma.memory;

import org.jspecify.annotations.NullMarked;
