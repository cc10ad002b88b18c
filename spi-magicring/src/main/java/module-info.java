// SPDX-License-Identifier: Apache-2.0

/**
 * The provider {@code magicring}: messages between hosts by RDMA WRITE WITH IMMEDIATE into a
 * double-mapped ring at the receiver. Programs use it by URIs with the scheme {@code magicring},
 * and never by a class of this module.
 */
@SuppressWarnings("requires-automatic") // AutoService's annotations are not a module of their own.
module dev.ferrule.magicring {
  requires dev.ferrule;
  requires dev.ferrule.posix;
  requires dev.ferrule.rdma;
  requires static com.google.auto.service;

  provides dev.ferrule.spi.ConnectionProvider with
      dev.ferrule.magicring.MagicRingProvider;
}
