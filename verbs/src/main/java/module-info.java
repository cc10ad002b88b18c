// SPDX-License-Identifier: Apache-2.0

/**
 * RDMA verbs for Java, without native code of its own: devices, memory regions, completion queues,
 * queue pairs and the connection manager. The providers {@code sendrecv} and {@code magicring} are
 * built on it; programs that want raw verbs may use it as well.
 */
@SuppressWarnings("module") // The modules that exports name are compiled after this one.
module dev.ferrule.verbs {
  requires transitive dev.ferrule;
  requires dev.ferrule.bindings;

  exports dev.ferrule.verbs;
  exports dev.ferrule.verbs.calls;
  exports dev.ferrule.verbs.cm;
  exports dev.ferrule.verbs.endpoint;
  exports dev.ferrule.verbs.memory;

  // What only the RDMA providers have in common.
  exports dev.ferrule.verbs.connection to
      dev.ferrule.sendrecv,
      dev.ferrule.magicring;
  exports dev.ferrule.verbs.queue to
      dev.ferrule.sendrecv,
      dev.ferrule.magicring;
}
