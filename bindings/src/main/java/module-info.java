// SPDX-License-Identifier: Apache-2.0

/**
 * Bindings of libibverbs, librdmacm and libc as jextract generated them. They are for Ferrule's own
 * modules and change whenever they are generated anew.
 */
@SuppressWarnings("module") // The modules that these exports name are compiled after this one.
module dev.ferrule.bindings {
  exports dev.ferrule.bindings.libc to
      dev.ferrule.posix,
      dev.ferrule.verbs,
      dev.ferrule.rdma,
      dev.ferrule.sendrecv,
      dev.ferrule.magicring,
      dev.ferrule.sm,
      dev.ferrule.tools;
  exports dev.ferrule.bindings.rdmacm to
      dev.ferrule.verbs,
      dev.ferrule.rdma,
      dev.ferrule.sendrecv,
      dev.ferrule.magicring,
      dev.ferrule.sm,
      dev.ferrule.tools;
  exports dev.ferrule.bindings.verbs to
      dev.ferrule.verbs,
      dev.ferrule.rdma,
      dev.ferrule.sendrecv,
      dev.ferrule.magicring,
      dev.ferrule.sm,
      dev.ferrule.tools;
}
