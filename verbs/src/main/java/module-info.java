// SPDX-License-Identifier: Apache-2.0

/**
 * RDMA verbs and the RDMA connection manager for Java, without native code of its own: devices,
 * memory regions, completion queues, queue pairs. It is usable without the rest of Ferrule.
 */
module dev.ferrule.verbs {
  requires dev.ferrule.bindings;
  requires dev.ferrule.posix;
  requires transitive static org.jspecify;

  exports dev.ferrule.verbs;
  exports dev.ferrule.verbs.calls;
  exports dev.ferrule.verbs.cm;
}
