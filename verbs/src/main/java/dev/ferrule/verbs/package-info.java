// SPDX-License-Identifier: Apache-2.0

/**
 * RDMA verbs for Java: a thin, typed layer over the objects of libibverbs. Start with {@link
 * dev.ferrule.verbs.VerbsLibrary}; {@link dev.ferrule.verbs.cm} makes connections.
 *
 * <p>Control path calls allocate and may block; they throw a {@link
 * dev.ferrule.verbs.VerbsException} with the C function and errno. Data path calls (posting and
 * polling) allocate nothing and return an int: 0 or a number of completions; or {@code -errno}
 * where C returns a positive errno. Only a failed poll returns a number below 0 without meaning.
 *
 * <p>Objects are closed in the reverse order of their creation. No thread may use an object while
 * another thread closes it: neither the C library nor this layer checks that.
 */
@NullMarked
package dev.ferrule.verbs;

import org.jspecify.annotations.NullMarked;
