// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.endpoint;

import dev.ferrule.verbs.AsyncEvent;
import dev.ferrule.verbs.CompletionChannel;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.DeviceAttributes;
import dev.ferrule.verbs.Errno;
import dev.ferrule.verbs.ProtectionDomain;
import dev.ferrule.verbs.VerbsContext;
import dev.ferrule.verbs.VerbsException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * What all connections of a process on one device share: a protection domain and a completion
 * channel.
 *
 * <p><b>Threads:</b> any number of threads may use one.
 */
public final class FabricDevice {

  private final VerbsContext context;
  private final DeviceAttributes attributes;
  private final ProtectionDomain domain;
  private final CompletionChannel channel;
  private final Map<Long, Runnable> listeners = new ConcurrentHashMap<>();
  private final Map<Long, Set<Consumer<AsyncEvent>>> watchers = new ConcurrentHashMap<>();
  private final LastRequestPatience lastRequestPatience = new LastRequestPatience();
  private final AtomicLong lastKey = new AtomicLong();
  private Set<Consumer<AsyncEvent>> concerned = Set.of(); // by the event at hand; the fabric's

  FabricDevice(VerbsContext context) {
    this.context = context;
    this.attributes = context.attributes();
    this.domain = context.allocateProtectionDomain();
    boolean done = false;
    try {
      this.channel = context.createCompletionChannel();
      done = true;
    } finally {
      if (!done) {
        domain.close();
      }
    }
  }

  /**
   * Returns the device.
   *
   * @return its context
   */
  public VerbsContext context() {
    return context;
  }

  /**
   * Returns what the device can do.
   *
   * @return its limits
   */
  public DeviceAttributes attributes() {
    return attributes;
  }

  /**
   * Returns the protection domain of all connections.
   *
   * @return the domain, which stays the fabric's to close
   */
  public ProtectionDomain domain() {
    return domain;
  }

  /**
   * Returns how long to wait for {@link AsyncEvent.Type#LAST_WORK_REQUEST_REACHED}.
   *
   * @return what is known of the device
   */
  public LastRequestPatience lastRequestPatience() {
    return lastRequestPatience;
  }

  CompletionChannel channel() {
    return channel;
  }

  /**
   * Returns a key for completion queues whose events are to be told to a listener.
   *
   * @param listener called by the fabric's thread, on an event that was asked for; must not block
   * @return the key, to be given up by {@link #forget}
   */
  public long listen(Runnable listener) {
    long key = lastKey.incrementAndGet();
    listeners.put(key, listener);
    return key;
  }

  /**
   * Tells a listener no more.
   *
   * @param key its key
   */
  public void forget(long key) {
    listeners.remove(key);
  }

  /**
   * Makes a completion queue on the device's channel.
   *
   * @param entries how many completions it has to hold
   * @param key a listener's key
   * @return the queue, to be closed
   * @throws VerbsException if that is more than the device can do, or has left
   */
  public CompletionQueue createCompletionQueue(int entries, long key) {
    if (entries > attributes.maxCompletions()) {
      throw new VerbsException(
          "ibv_create_cq",
          entries + " entries",
          Errno.ENOMEM,
          "the device can do "
              + attributes.maxCompletions()
              + "; use smaller values of the options that say how many messages may be under way",
          null);
    }
    return context.createCompletionQueue(entries, channel, key);
  }

  void takeCompletionEvents() {
    OptionalLong key = channel.nextEvent();
    while (key.isPresent()) {
      Runnable listener = listeners.get(key.getAsLong());
      if (listener != null) {
        listener.run();
      }
      key = channel.nextEvent();
    }
  }

  /**
   * Tells of the events of queue pairs and other queues, and of the device's end.
   *
   * @param elements the addresses of the queues
   * @param watcher called by the fabric's thread; must not block
   */
  public void watch(List<Long> elements, Consumer<AsyncEvent> watcher) {
    for (Long element : elements) {
      watchers.compute(
          element,
          (key, known) -> {
            Set<Consumer<AsyncEvent>> all = known == null ? ConcurrentHashMap.newKeySet() : known;
            all.add(watcher);
            return all;
          });
    }
  }

  /**
   * Tells a watcher no more.
   *
   * @param elements what it watches
   * @param watcher the watcher
   */
  public void unwatch(List<Long> elements, Consumer<AsyncEvent> watcher) {
    for (Long element : elements) {
      watchers.computeIfPresent(
          element,
          (key, known) -> {
            known.remove(watcher);
            return known.isEmpty() ? null : known;
          });
    }
  }

  /**
   * Tells watchers of events. Whose an event is, is found out before it is acknowledged: until
   * then, its queue pair cannot be destroyed, and no other one can have its address.
   */
  void takeAsyncEvents() {
    Consumer<AsyncEvent> lookUp = event -> concerned = watchersOf(event);
    Optional<AsyncEvent> event = context.nextAsyncEvent(lookUp);
    while (event.isPresent()) {
      for (Consumer<AsyncEvent> watcher : concerned) {
        watcher.accept(event.get());
      }
      concerned = Set.of();
      event = context.nextAsyncEvent(lookUp);
    }
  }

  private Set<Consumer<AsyncEvent>> watchersOf(AsyncEvent event) {
    return event.type() == AsyncEvent.Type.DEVICE_FATAL
        ? watchers.values().stream().flatMap(Set::stream).collect(Collectors.toSet())
        : Set.copyOf(watchers.getOrDefault(event.element(), Set.of()));
  }

  void close() {
    Cleanup.close(channel, domain);
  }
}
