// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.endpoint;

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
 * The RDMA of this process: one thread for everything that the connection manager, the devices and
 * the completion channels have to tell, and what the connections on each device share. There is one
 * for each {@link VerbsLibrary}, of which a program has one. It lives as long as anybody retains
 * it.
 *
 * <p><b>Threads:</b> any thread may call. Handlers are called by the fabric's thread and must not
 * block.
 */
public final class Fabric {

  /** How long a thread waits for the fabric's thread before it gives something up. */
  private static final long LAST_LOOK_NANOS = 2_000_000_000L;

  private static final Map<VerbsLibrary, Fabric> FABRICS = new HashMap<>(); // under its own lock

  private final VerbsLibrary library;
  private final EventChannel channel;
  private final EventLoop loop;
  private final Map<Long, Consumer<CmEvent>> handlers = new ConcurrentHashMap<>();
  private final Map<Long, FabricDevice> devices = new HashMap<>();
  private int retained = 1;
  private boolean ended;
  private @Nullable Consumer<CmEvent> handler; // of the event at hand; the fabric's thread's

  private Fabric(VerbsLibrary library) {
    this.library = library;
    this.channel = EventChannel.create(library);
    boolean done = false;
    try {
      this.loop = new EventLoop("ferrule-rdma");
      done = true;
    } finally {
      if (!done) {
        Cleanup.close(channel);
      }
    }
    loop.add(channel.descriptor(), this::takeCmEvents);
  }

  /**
   * Returns the fabric of this process, retained for the caller.
   *
   * @param library the libraries to go by
   * @return the fabric, to be released
   */
  public static Fabric retain(VerbsLibrary library) {
    synchronized (FABRICS) {
      Fabric fabric = FABRICS.get(library);
      if (fabric == null) {
        fabric = new Fabric(library);
        FABRICS.put(library, fabric);
      } else {
        fabric.retained++;
      }
      return fabric;
    }
  }

  /** Retains the fabric once more, which somebody retains. */
  public void retainMore() {
    synchronized (FABRICS) {
      retained++;
    }
  }

  /** Gives up what {@link #retain} gave; the last one to do so ends the fabric. */
  public void release() {
    synchronized (FABRICS) {
      retained--;
      if (retained > 0 || ended) {
        return; // a client may still have come while the fabric ended, and was turned away
      }
      ended = true;
      FABRICS.remove(library, this);
    }
    if (loop.isCurrent()) {
      // A close callback. The thread cannot wait for its own end.
      Thread.ofPlatform().daemon().name("ferrule-rdma end").start(this::close);
    } else {
      close();
    }
  }

  private void close() {
    loop.close();
    devices.values().forEach(FabricDevice::close);
    Cleanup.close(channel);
  }

  /**
   * Creates an id.
   *
   * @param handler told what happens to it
   * @return the id, to be given up by {@link #destroy}
   */
  public CmId createId(Consumer<CmEvent> handler) {
    CmId id = channel.createId();
    handlers.put(id.address(), handler);
    return id;
  }

  /**
   * Takes over the id of a connect request. To be called by the handler that is told of it.
   *
   * @param request the request
   * @param handler told what happens to the id
   * @return the id, to be given up by {@link #destroy}
   */
  public CmId adopt(CmEvent request, Consumer<CmEvent> handler) {
    CmId id = channel.adopt(request.id());
    handlers.put(id.address(), handler);
    return id;
  }

  /**
   * Destroys an id, whose queue pair was destroyed before.
   *
   * @param id the id
   */
  public void destroy(CmId id) {
    handlers.remove(id.address());
    id.close();
  }

  /**
   * Tells handlers of events. Whose an event is, is found out before it is acknowledged: until
   * then, its id cannot be destroyed, and no other one can have its address. The handler is called
   * after that, for it may destroy the id itself.
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
   * Passes on every event of the connection manager that is there already. To be called before
   * something is given up because an event has not come in time: the event may be there, and the
   * fabric's thread may not have had a processor since. Waits for that thread, for two seconds at
   * most.
   *
   * @throws InterruptedException if the calling thread is interrupted
   */
  public void takeWaitingEvents() throws InterruptedException {
    loop.runAndAwait(this::takeCmEvents, LAST_LOOK_NANOS);
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
      channel.adopt(event.id()).close(); // the listener was closed meanwhile; this says no
    }
  }

  /**
   * Returns what the connections on an id's device share.
   *
   * @param id an id that is bound to a device
   * @return the device
   */
  public FabricDevice device(CmId id) {
    VerbsContext context = id.context().orElseThrow();
    synchronized (devices) {
      FabricDevice known = devices.get(context.address());
      if (known == null) {
        known = new FabricDevice(context);
        devices.put(context.address(), known);
        loop.add(known.channel().descriptor(), known::takeCompletionEvents);
        loop.add(context.asyncDescriptor(), known::takeAsyncEvents);
      }
      return known;
    }
  }

  /**
   * Tells whether the calling thread is the fabric's, which must not wait for events.
   *
   * @return whether it is
   */
  public boolean isCurrentThread() {
    return loop.isCurrent();
  }

  /**
   * Calls something a few times a second.
   *
   * @param tick what to call; must not block
   */
  public void addTick(Runnable tick) {
    loop.addTick(tick);
  }

  /**
   * Calls it no more.
   *
   * @param tick what was called
   */
  public void removeTick(Runnable tick) {
    loop.removeTick(tick);
  }
}
