// SPDX-License-Identifier: Apache-2.0

/**
 * Measures the one-way latency and the rate of one competitor on demand, round by round. The
 * transports of this JVM are measured by the same loops, each in two processes of its own, so that
 * the JIT compiler optimizes for one of them at a time; programs such as {@code ucx_perftest}
 * measure themselves.
 */
@NullMarked
package dev.ferrule.lab.compare.competitor;

import org.jspecify.annotations.NullMarked;
