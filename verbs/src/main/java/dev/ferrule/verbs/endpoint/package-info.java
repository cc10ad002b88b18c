// SPDX-License-Identifier: Apache-2.0

/**
 * What both RDMA providers need beside the verbs: addresses, and the {@link
 * dev.ferrule.verbs.endpoint.Fabric}, which is the one thread of the control plane and what all
 * connections on a device share.
 */
@NullMarked
package dev.ferrule.verbs.endpoint;

import org.jspecify.annotations.NullMarked;
