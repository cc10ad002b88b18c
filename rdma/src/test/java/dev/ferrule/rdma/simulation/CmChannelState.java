// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.librdmacm.rdma_event_channel;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** An event channel of the connection manager. */
final class CmChannelState extends FabricObject {

  /**
   * An event that has not been taken yet.
   *
   * @param listener for a connect request, the listening id, to which the event belongs; otherwise
   *     null
   * @param taken runs when the event is taken, because librdmacm changes the queue pair only then
   */
  record Event(
      CmEvent.Type type,
      int status,
      CmIdState id,
      @Nullable CmIdState listener,
      byte[] data,
      Runnable taken) {

    CmIdState countedFor() {
      return listener == null ? id : listener;
    }
  }

  final ReadableQueue<Event> events = new ReadableQueue<>();

  CmChannelState(MemorySegment structure) {
    super(structure);
    rdma_event_channel.fd(structure, events.descriptor());
  }
}
