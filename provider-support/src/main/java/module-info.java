// SPDX-License-Identifier: Apache-2.0

/** The shared implementation of Ferrule's providers. Programs use only {@code dev.ferrule}. */
@SuppressWarnings("module") // The modules that exports name are compiled after this one.
module dev.ferrule.support {
  requires transitive dev.ferrule;
  requires static org.jspecify;

  exports dev.ferrule.support to
      dev.ferrule.rdma,
      dev.ferrule.sendrecv,
      dev.ferrule.magicring,
      dev.ferrule.sm;
}
