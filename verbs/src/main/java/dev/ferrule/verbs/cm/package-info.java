// SPDX-License-Identifier: Apache-2.0

/**
 * The RDMA connection manager (rdma_cm): listens, connects, accepts and rejects, with private data.
 * An {@link dev.ferrule.verbs.cm.EventChannel} reports the events of its {@link
 * dev.ferrule.verbs.cm.CmId ids}.
 */
@NullMarked
package dev.ferrule.verbs.cm;

import org.jspecify.annotations.NullMarked;
