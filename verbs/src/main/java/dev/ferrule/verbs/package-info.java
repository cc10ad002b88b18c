// SPDX-License-Identifier: Apache-2.0

/**
 * RDMA verbs for Java: the objects of libibverbs, thin and typed. {@link
 * dev.ferrule.verbs.VerbsLibrary} is where to start; connections are made by {@link
 * dev.ferrule.verbs.cm}.
 *
 * <p>Control plane calls allocate and may block; they throw a {@link
 * dev.ferrule.verbs.VerbsException} that names the C function and errno. Data plane calls (posting
 * and polling) allocate nothing and return what C returns: 0 or more, or {@code -errno}.
 *
 * <p>Objects are closed in the reverse order of their making, and nobody may use one while another
 * thread closes it: the C library trusts its callers, and so does this layer.
 */
@NullMarked
package dev.ferrule.verbs;

import org.jspecify.annotations.NullMarked;
