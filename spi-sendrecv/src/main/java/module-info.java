// SPDX-License-Identifier: Apache-2.0

/**
 * Reserved for the provider {@code sendrecv}: two-sided messages over a reliable RDMA connection,
 * with managed receive buffers. There is no provider in it yet, so {@code sendrecv:} is an unknown
 * scheme.
 */
module dev.ferrule.sendrecv {
  requires dev.ferrule.verbs;
}
