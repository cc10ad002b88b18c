// SPDX-License-Identifier: Apache-2.0

/**
 * The provider {@code sm}: messages between the processes of one host, over shared memory. Programs
 * reach it by URIs of the scheme {@code sm}, never by a class of this module.
 */
@SuppressWarnings("requires-automatic") // AutoService's annotations are not a module of their own.
module dev.ferrule.sm {
  requires dev.ferrule.support;
  requires dev.ferrule.posix;
  requires static com.google.auto.service;

  provides dev.ferrule.spi.ConnectionProvider with
      dev.ferrule.sm.SmProvider;
}
