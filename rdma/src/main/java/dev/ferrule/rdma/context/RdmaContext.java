// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.context;

import dev.ferrule.verbs.VerbsContext;
import dev.ferrule.verbs.VerbsLibrary;
import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.cm.CmId;
import dev.ferrule.verbs.cm.EventChannel;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The RDMA context of this process: the event loop for connection, asynchronous and completion
 * events, and the resources that the connections on each device share. There is one context per
 * {@link VerbsLibrary}, and therefore one in a program. It is reference-counted.
 *
 * <p><b>Threads:</b> safe for use by several threads. Handlers run on the event loop and must not
 * block.
 */
public final class RdmaContext {

  /** The maximum time that a thread waits for the event loop to dispatch pending events. */
  private static final long DISPATCH_NANOS = 2_000_000_000L;

  private static final Map<VerbsLibrary, RdmaContext> CONTEXTS =
      new HashMap<>(); // guarded by itself

  private final VerbsLibrary library;
  private final EventChannel channel;
  private final EventLoop loop;
  private final Map<Long, Consumer<CmEvent>> handlers = new ConcurrentHashMap<>();
  private final Map<Long, SharedDevice> devices = new HashMap<>();
  private int retained = 1;
  private boolean ended;
  private @Nullable Consumer<CmEvent>
      handler; // of the event that is being dispatched; only by the event loop

  private RdmaContext(VerbsLibrary library) {
    this.library = library;
    this.channel = EventChannel.create(library);
    try {
      this.loop = startLoop();
    } catch (Throwable e) {
      Cleanup.close(channel);
      throw e;
    }
  }

  private EventLoop startLoop() {
    EventLoop started = new EventLoop("ferrule-rdma");
    try {
      started.add(channel.descriptor(), this::takeCmEvents);
      return started;
    } catch (Throwable e) {
      started.close();
      throw e;
    }
  }

  /**
   * Returns the context of a library, retained for the caller.
   *
   * @param library the libraries
   * @return the context, to be released
   */
  public static RdmaContext retain(VerbsLibrary library) {
    synchronized (CONTEXTS) {
      RdmaContext rdmaContext = CONTEXTS.get(library);
      if (rdmaContext == null) {
        rdmaContext = new RdmaContext(library);
        CONTEXTS.put(library, rdmaContext);
      } else {
        rdmaContext.retained++;
      }
      return rdmaContext;
    }
  }

  /** Retains the context once more. The caller must already have retained it. */
  public void retainMore() {
    synchronized (CONTEXTS) {
      retained++;
    }
  }

  /** Releases the context; the last release ends it. */
  public void release() {
    synchronized (CONTEXTS) {
      retained--;
      if (retained > 0 || ended) {
        return; // a client that connected while the context ended was rejected
      }
      ended = true;
      CONTEXTS.remove(library, this);
    }
    if (loop.isCurrent()) {
      // The caller is a close callback on the event loop, which cannot wait for its own end.
      Thread.ofPlatform().daemon().name("ferrule-rdma end").start(this::close);
    } else {
      close();
    }
  }

  private void close() {
    loop.close();
    devices.values().forEach(SharedDevice::close);
    Cleanup.close(channel);
  }

  /**
   * Creates an id.
   *
   * @param handler receives the events of the id
   * @return the id, to be destroyed by {@link #destroy}
   */
  public CmId createId(Consumer<CmEvent> handler) {
    CmId id = channel.createId();
    handlers.put(id.address(), handler);
    return id;
  }

  /**
   * Takes ownership of the id of a connect request. Called by the handler of the request.
   *
   * @param request the request
   * @param handler receives the events of the id
   * @return the id, to be destroyed by {@link #destroy}
   */
  public CmId adopt(CmEvent request, Consumer<CmEvent> handler) {
    CmId id = channel.adopt(request.id());
    handlers.put(id.address(), handler);
    return id;
  }

  /**
   * Destroys an id. Its queue pair must be destroyed first.
   *
   * @param id the id
   */
  public void destroy(CmId id) {
    handlers.remove(id.address());
    id.close();
  }

  /**
   * Dispatches events to their handlers. The handler is looked up before the event is acknowledged:
   * until then, the event's id cannot be destroyed, so no other id can have its address. The
   * handler is called after the acknowledgment, as it may destroy the id.
   */
  private void takeCmEvents() {
    Consumer<CmEvent> lookUp = event -> handler = handlerOf(event);
    Optional<CmEvent> event = channel.nextEvent(lookUp);
    while (event.isPresent()) {
      dispatch(event.get(), handler);
      handler = null;
      event = channel.nextEvent(lookUp);
    }
  }

  /**
   * Dispatches all pending events of the connection manager. Called before an operation times out:
   * its event may be pending because the event loop has not been scheduled. Waits for the event
   * loop for at most two seconds.
   *
   * @throws InterruptedException if the calling thread is interrupted
   */
  public void takeWaitingEvents() throws InterruptedException {
    loop.runAndAwait(this::takeCmEvents, DISPATCH_NANOS);
  }

  private static boolean isRequest(CmEvent event) {
    return event.type() == CmEvent.Type.CONNECT_REQUEST;
  }

  private @Nullable Consumer<CmEvent> handlerOf(CmEvent event) {
    return handlers.get(isRequest(event) ? event.listenerId() : event.id());
  }

  private void dispatch(CmEvent event, @Nullable Consumer<CmEvent> found) {
    if (found != null) {
      found.accept(event);
    } else if (isRequest(event)) {
      channel.adopt(event.id()).close(); // rejects the client: the listener has been closed
    }
  }

  /**
   * Returns the resources that the connections on an id's device share.
   *
   * @param id an id that is bound to a device
   * @return the device
   */
  public SharedDevice device(CmId id) {
    VerbsContext context = id.context().orElseThrow();
    synchronized (devices) {
      SharedDevice known = devices.get(context.address());
      if (known == null) {
        known = open(context);
        devices.put(context.address(), known);
      }
      return known;
    }
  }

  private SharedDevice open(VerbsContext context) {
    SharedDevice device = new SharedDevice(context);
    try {
      long completions = loop.add(device.channel().descriptor(), device::takeCompletionEvents);
      try {
        loop.add(context.asyncDescriptor(), device::takeAsyncEvents);
      } catch (Throwable e) {
        loop.remove(completions);
        throw e;
      }
      return device;
    } catch (Throwable e) {
      device.close();
      throw e;
    }
  }

  /** {@return whether the calling thread is the event loop, which must not wait for events} */
  public boolean isCurrentThread() {
    return loop.isCurrent();
  }

  /**
   * Adds an action that runs several times a second.
   *
   * @param tick the action; must not block
   */
  public void addTick(Runnable tick) {
    loop.addTick(tick);
  }

  /**
   * Removes an action added by {@link #addTick}.
   *
   * @param tick the action
   */
  public void removeTick(Runnable tick) {
    loop.removeTick(tick);
  }
}
