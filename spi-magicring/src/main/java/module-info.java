// SPDX-License-Identifier: Apache-2.0

/**
 * The provider {@code magicring}: messages between hosts by RDMA WRITE WITH IMMEDIATE into a ring
 * at the receiver, which is mapped twice. Programs reach it by URIs of the scheme {@code
 * magicring}, never by a class of this module.
 */
@SuppressWarnings("requires-automatic") // AutoService's annotations are not a module of their own.
module dev.ferrule.magicring {
  requires dev.ferrule;
  requires dev.ferrule.verbs;
  requires static com.google.auto.service;

  provides dev.ferrule.spi.ConnectionProvider with
      dev.ferrule.magicring.MagicRingProvider;
}
