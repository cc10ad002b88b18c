// SPDX-License-Identifier: Apache-2.0

/**
 * The control path common to both RDMA providers: addresses, and the {@link
 * dev.ferrule.rdma.context.RdmaContext}, which owns the event loop and the resources that all
 * connections on a device share.
 */
@NullMarked
package dev.ferrule.rdma.context;

import org.jspecify.annotations.NullMarked;
