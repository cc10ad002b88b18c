// SPDX-License-Identifier: Apache-2.0

/**
 * Reserved for the provider {@code magicring}: RDMA WRITE WITH IMMEDIATE into a ring buffer that is
 * mapped twice at the receiver. There is no provider in it yet, so {@code magicring:} is an unknown
 * scheme.
 */
module dev.ferrule.magicring {
  requires dev.ferrule.verbs;
}
