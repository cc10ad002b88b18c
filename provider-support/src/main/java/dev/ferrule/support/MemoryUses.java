// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import dev.ferrule.RegisteredMemory;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * The registered memory that a connection uses, whichever connection it was registered with.
 *
 * <p><b>Threads:</b> any thread may call.
 *
 * @param <U> the provider's type of a use
 */
public final class MemoryUses<U extends MemoryUse> {

  /**
   * A use, with a reference for {@link RecentMemory}, which must not keep closed memory reachable.
   *
   * @param use the use
   * @param reference a reference to it
   */
  record Known<U>(U use, WeakReference<U> reference) {}

  private final Class<U> type;
  private final URI uri;
  private final Lifecycle life;
  private final Function<SharedRegistration, U> factory;
  private final Map<SharedRegistration, Known<U>> all = new ConcurrentHashMap<>();

  /**
   * Creates an instance without uses.
   *
   * @param type the type of a use; connections with the same one can share memory
   * @param uri identifies the connection in exceptions
   * @param life the connection's lifecycle
   * @param factory creates a use
   */
  public MemoryUses(
      Class<U> type, URI uri, Lifecycle life, Function<SharedRegistration, U> factory) {
    this.type = type;
    this.uri = uri;
    this.life = life;
    this.factory = factory;
  }

  /**
   * Registers memory with the connection.
   *
   * @param segment the memory
   * @return the registration
   */
  public RegisteredMemory register(MemorySegment segment) {
    life.checkOpen();
    SharedRegistration memory = new SharedRegistration(type, uri, segment);
    Known<U> ignored = memory.add(this);
    return memory;
  }

  /** Returns the use of memory, which begins if there is none; see {@link RecentMemory#use}. */
  Known<U> find(RegisteredMemory memory) {
    if (!(memory instanceof SharedRegistration registered) || !registered.isOf(type)) {
      throw new IllegalArgumentException(
          "the memory was registered with "
              + (memory instanceof SharedRegistration other ? other.uri() : memory.getClass())
              + ", and "
              + uri
              + " is of another provider: register it with this connection, too");
    }
    Known<U> known = all.get(registered);
    return known == null ? registered.add(this) : known;
  }

  /** Returns the use of memory; called under the monitor of the memory, which is open. */
  synchronized Known<U> begin(SharedRegistration memory) {
    life.checkOpen(); // later uses end with the connection
    Known<U> known = all.get(memory);
    if (known == null) {
      U use = factory.apply(memory);
      known = new Known<>(use, new WeakReference<>(use));
      all.put(memory, known);
    }
    return known;
  }

  Lifecycle life() {
    return life;
  }

  void forget(SharedRegistration memory) {
    all.remove(memory);
  }

  /** Ends all uses. The connection has ended, and none of its messages and accesses uses memory. */
  public void close() {
    List<Known<U>> last;
    synchronized (this) {
      last = List.copyOf(all.values());
    }
    last.forEach(known -> known.use().memory().end(known.use()));
  }
}
