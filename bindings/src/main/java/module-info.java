// SPDX-License-Identifier: Apache-2.0

/**
 * Bindings of libibverbs, librdmacm and libc as jextract generated them. They are for the modules
 * posix and verbs only, and change whenever they are generated anew.
 */
@SuppressWarnings("module") // The modules that these exports name are compiled after this one.
module dev.ferrule.bindings {
  exports dev.ferrule.bindings.libc to
      dev.ferrule.posix;
  exports dev.ferrule.bindings.rdmacm to
      dev.ferrule.verbs;
  exports dev.ferrule.bindings.verbs to
      dev.ferrule.verbs;
}
