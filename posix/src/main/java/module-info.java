// SPDX-License-Identifier: Apache-2.0

/** Calls of C functions. Programs do not use it. */
@SuppressWarnings("module") // The modules in the exports are compiled after this one.
module dev.ferrule.posix {
  requires dev.ferrule.bindings;
  requires static org.jspecify;

  exports dev.ferrule.posix to
      dev.ferrule.verbs,
      dev.ferrule.rdma,
      dev.ferrule.sendrecv,
      dev.ferrule.sm,
      dev.ferrule.tools;
}
