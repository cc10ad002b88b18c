// SPDX-License-Identifier: Apache-2.0

/**
 * The common part of the providers {@code sendrecv} and {@code magicring}. Programs do not use it.
 */
@SuppressWarnings("module") // The modules in the exports are compiled after this one.
module dev.ferrule.rdma {
  requires dev.ferrule.posix;
  requires transitive dev.ferrule.support;
  requires transitive dev.ferrule.verbs;

  exports dev.ferrule.rdma.connection to
      dev.ferrule.sendrecv,
      dev.ferrule.magicring;
  exports dev.ferrule.rdma.context to
      dev.ferrule.sendrecv,
      dev.ferrule.magicring;
  exports dev.ferrule.rdma.memory to
      dev.ferrule.sendrecv,
      dev.ferrule.magicring;
  exports dev.ferrule.rdma.queue to
      dev.ferrule.sendrecv,
      dev.ferrule.magicring;
}
