// SPDX-License-Identifier: Apache-2.0

/**
 * Reserved for the typed layer over the RDMA verbs that the providers {@code sendrecv} and {@code
 * magicring} share: devices, memory regions, completion queues, queue pairs and the connection
 * manager. There is nothing in it yet.
 */
module dev.ferrule.verbs {
  requires transitive dev.ferrule;
  requires dev.ferrule.bindings;
}
