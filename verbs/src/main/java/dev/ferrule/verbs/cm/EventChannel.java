// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.cm;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.RawMemory;
import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.VerbsLibrary;
import dev.ferrule.verbs.calls.CmCalls;
import dev.ferrule.verbs.librdmacm.rdma_cm_event;
import dev.ferrule.verbs.librdmacm.rdma_conn_param;
import dev.ferrule.verbs.librdmacm.rdma_event_channel;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * An event channel ({@code rdma_event_channel}), which reports the events of its ids.
 *
 * {@snippet lang=java :
 * try (EventChannel channel = EventChannel.create(VerbsLibrary.system());
 *     CmId listener = channel.createId()) {
 *   listener.bind(new InetSocketAddress("10.0.0.1", 18515));
 *   listener.listen(16);
 *   CmEvent request = channel.nextEvent().orElseThrow(); // waits for a client
 *   try (CmId client = channel.adopt(request.id())) {
 *     client.reject(new byte[] {1});
 *   }
 * }
 * }
 *
 * <p><b>Threads:</b> one thread at a time takes events. librdmacm establishes connections in the
 * call that takes an event, so a connection makes progress only if the program takes events.
 */
public final class EventChannel implements AutoCloseable {

  private final VerbsLibrary library;
  private final CmCalls calls;
  private final long address;

  private EventChannel(VerbsLibrary library, long address) {
    this.library = library;
    this.calls = library.cm();
    this.address = address;
  }

  /**
   * Creates a channel.
   *
   * @param library the libraries
   * @return the channel, to be closed after its ids
   * @throws VerbsException if the kernel has no connection manager
   */
  public static EventChannel create(VerbsLibrary library) {
    long address = library.cm().createEventChannel();
    if (address < 0) {
      throw new VerbsException("rdma_create_event_channel", "", (int) -address);
    }
    return new EventChannel(library, address);
  }

  /** {@return the descriptor that is readable while an event is pending, owned by the channel} */
  public int descriptor() {
    return RawMemory.getInt(address + rdma_event_channel.fd$offset());
  }

  /**
   * Takes and acknowledges an event. Waits for one if the descriptor is blocking.
   *
   * @return the event; empty if none is pending and the descriptor is non-blocking
   * @throws VerbsException if the channel fails
   */
  public Optional<CmEvent> nextEvent() {
    return nextEvent(event -> {});
  }

  /**
   * Takes an event as {@link #nextEvent()} does, and passes it to an observer before acknowledging
   * it. After the acknowledgment, the event's id may be destroyed at any time, and another id may
   * have the same address.
   *
   * @param observer called with the event, if there is one; it must not destroy the id, which would
   *     wait for the acknowledgment
   * @return the event; empty if none is pending and the descriptor is non-blocking
   * @throws VerbsException if the channel fails
   */
  public Optional<CmEvent> nextEvent(Consumer<CmEvent> observer) {
    long event = calls.getCmEvent(address);
    if (event == -Errno.EAGAIN || event == -Errno.EINTR) {
      return Optional.empty();
    }
    if (event < 0) {
      throw new VerbsException("rdma_get_cm_event", "", (int) -event);
    }
    CmEvent copy =
        new CmEvent(
            CmEvent.Type.of(RawMemory.getInt(event + rdma_cm_event.event$offset())),
            RawMemory.getInt(event + rdma_cm_event.status$offset()),
            RawMemory.getLong(event + rdma_cm_event.id$offset()),
            RawMemory.getLong(event + rdma_cm_event.listen_id$offset()),
            privateData(event + rdma_cm_event.param$offset()));
    try {
      observer.accept(copy);
    } finally {
      calls.ackCmEvent(event);
    }
    return Optional.of(copy);
  }

  private static byte[] privateData(long parameters) {
    long data = RawMemory.getLong(parameters + rdma_conn_param.private_data$offset());
    int length = RawMemory.getByte(parameters + rdma_conn_param.private_data_len$offset());
    return data == 0 ? new byte[0] : RawMemory.bytes(data, length);
  }

  /**
   * Creates an id.
   *
   * @return the id, to be closed
   * @throws VerbsException if resources are exhausted
   */
  public CmId createId() {
    long id = calls.createId(address);
    if (id < 0) {
      throw new VerbsException("rdma_create_id", "", (int) -id);
    }
    return new CmId(library, id);
  }

  /**
   * Takes ownership of the id of a connect request.
   *
   * @param id the address of the id
   * @return the id, to be closed
   */
  public CmId adopt(long id) {
    return new CmId(library, id);
  }

  @Override
  public void close() {
    calls.destroyEventChannel(address);
  }
}
