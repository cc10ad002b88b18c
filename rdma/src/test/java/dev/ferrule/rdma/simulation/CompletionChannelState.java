// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import dev.ferrule.verbs.libibverbs.ibv_comp_channel;
import java.lang.foreign.MemorySegment;

/** A completion channel: the queues with an event to take. */
final class CompletionChannelState extends FabricObject {

  final ReadableQueue<CompletionQueueState> events = new ReadableQueue<>();

  CompletionChannelState(MemorySegment structure) {
    super(structure);
    ibv_comp_channel.fd(structure, events.descriptor());
  }
}
