// SPDX-License-Identifier: Apache-2.0

/**
 * The provider {@code sendrecv}: messages between hosts by RDMA's SEND and RECV. Programs reach it
 * by URIs of the scheme {@code sendrecv}, never by a class of this module.
 */
@SuppressWarnings("requires-automatic") // AutoService's annotations are not a module of their own.
module dev.ferrule.sendrecv {
  requires dev.ferrule;
  requires dev.ferrule.verbs;
  requires static com.google.auto.service;

  provides dev.ferrule.spi.ConnectionProvider with
      dev.ferrule.sendrecv.SendRecvProvider;
}
