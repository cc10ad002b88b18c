// SPDX-License-Identifier: Apache-2.0

/**
 * Point-to-point messages over RDMA verbs and shared memory: the API for programs and providers.
 */
module dev.ferrule {
  requires jdk.jfr;
  requires transitive static org.jspecify;

  exports dev.ferrule;
  exports dev.ferrule.spi;

  uses dev.ferrule.spi.ConnectionProvider;
}
