// SPDX-License-Identifier: Apache-2.0

/**
 * The provider {@code sendrecv}: messages between hosts by RDMA SEND and RECV. Programs use it by
 * URIs with the scheme {@code sendrecv}, and never by a class of this module.
 */
@SuppressWarnings("requires-automatic") // AutoService's annotations are not a module of their own.
module dev.ferrule.sendrecv {
  requires dev.ferrule;
  requires dev.ferrule.posix;
  requires dev.ferrule.rdma;
  requires static com.google.auto.service;

  provides dev.ferrule.spi.ConnectionProvider with
      dev.ferrule.sendrecv.SendRecvProvider;
}
