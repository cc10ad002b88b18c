// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.context;

import dev.ferrule.posix.Errno;
import dev.ferrule.verbs.AsyncEvent;
import dev.ferrule.verbs.AtomicCapability;
import dev.ferrule.verbs.CompletionChannel;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.DeviceAttributes;
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
import org.jspecify.annotations.Nullable;

/**
 * The resources that all connections of a process on one device share, such as a protection domain
 * and a completion channel.
 *
 * <p><b>Threads:</b> safe for use by several threads.
 */
public final class SharedDevice {

  private final VerbsContext context;
  private final DeviceAttributes attributes;
  private final ProtectionDomain domain;
  private final RegistrationCache registrations;
  private final CompletionChannel channel;
  private final Map<Long, Runnable> listeners = new ConcurrentHashMap<>(); // by their key
  private final Map<CompletionQueue, Long> keys = new ConcurrentHashMap<>();
  private final Map<Long, Set<Consumer<AsyncEvent>>> watchers = new ConcurrentHashMap<>();
  private final LastWqeTimeout lastWqeTimeout = new LastWqeTimeout();
  private final AtomicLong lastKey = new AtomicLong();
  private Set<Consumer<AsyncEvent>> eventWatchers =
      Set.of(); // of the event that is being dispatched

  SharedDevice(VerbsContext context) {
    this.context = context;
    this.attributes = context.attributes();
    this.domain = context.allocateProtectionDomain();
    this.registrations = new RegistrationCache(domain);
    try {
      this.channel = context.createCompletionChannel();
    } catch (Throwable e) {
      domain.close();
      throw e;
    }
  }

  /** {@return the context of the device} */
  public VerbsContext context() {
    return context;
  }

  /** {@return the limits of the device} */
  public DeviceAttributes attributes() {
    return attributes;
  }

  /** {@return the protection domain of all connections, closed by the context} */
  public ProtectionDomain domain() {
    return domain;
  }

  /** {@return the program's memory that is registered with the device} */
  public RegistrationCache registrations() {
    return registrations;
  }

  /**
   * Returns the timeout for {@link AsyncEvent.Type#LAST_WORK_REQUEST_REACHED}.
   *
   * @return the timeout of this device
   */
  public LastWqeTimeout lastWqeTimeout() {
    return lastWqeTimeout;
  }

  /**
   * Checks that the device has atomic operations.
   *
   * @throws UnsupportedOperationException if it has none
   */
  public void checkAtomics() {
    if (attributes.atomics() == AtomicCapability.NONE) {
      throw new UnsupportedOperationException(
          "the device "
              + context.deviceName()
              + " has no atomic operations (ibv_devinfo -v: atomic_cap); expose memory for reads and"
              + " writes only, and have its owner change words for others, by messages");
    }
  }

  CompletionChannel channel() {
    return channel;
  }

  /**
   * Creates a completion queue on the device's channel.
   *
   * @param entries the minimum number of completions
   * @param listener called by the event loop on a requested event; must not block
   * @return the queue, to be destroyed by {@link #destroy}
   * @throws VerbsException if the device supports fewer entries, or resources are exhausted
   */
  public CompletionQueue createCompletionQueue(int entries, Runnable listener) {
    if (entries > attributes.maxCompletions()) {
      throw new VerbsException(
          "ibv_create_cq",
          entries + " entries",
          Errno.ENOMEM,
          "the device supports "
              + attributes.maxCompletions()
              + "; use smaller values of the options that limit unacknowledged messages",
          null);
    }
    long key = lastKey.incrementAndGet();
    listeners.put(key, listener);
    try {
      CompletionQueue queue = context.createCompletionQueue(entries, channel, key);
      keys.put(queue, key);
      return queue;
    } catch (Throwable e) {
      listeners.remove(key);
      throw e;
    }
  }

  /**
   * Destroys a completion queue, and removes its listener.
   *
   * @param queue the queue; null if it was not created
   */
  public void destroy(@Nullable CompletionQueue queue) {
    Long key = queue == null ? null : keys.remove(queue);
    if (key != null) {
      Cleanup.close(queue, () -> listeners.remove(key));
    }
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
   * Adds a watcher for the asynchronous events of queues and for the failure of the device.
   *
   * @param elements the addresses of the queues
   * @param watcher called by the event loop; must not block
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
   * Removes a watcher.
   *
   * @param elements the addresses of the queues
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
   * Dispatches events to their watchers. The watchers are looked up before the event is
   * acknowledged: until then, the event's queue pair cannot be destroyed, so no other one can have
   * its address.
   */
  void takeAsyncEvents() {
    Consumer<AsyncEvent> lookUp = event -> eventWatchers = watchersOf(event);
    Optional<AsyncEvent> event = context.nextAsyncEvent(lookUp);
    while (event.isPresent()) {
      for (Consumer<AsyncEvent> watcher : eventWatchers) {
        watcher.accept(event.get());
      }
      eventWatchers = Set.of();
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
