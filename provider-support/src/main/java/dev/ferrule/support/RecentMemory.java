// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import dev.ferrule.RegisteredMemory;
import java.lang.ref.WeakReference;

/**
 * Finds a connection's use of registered memory, without a look-up if the memory is that of the
 * call before.
 *
 * <p><b>Threads:</b> one thread at a time.
 *
 * @param <U> the provider's type of a use
 */
public final class RecentMemory<U extends MemoryUse> {

  private final MemoryUses<U> uses;
  private WeakReference<U> last = new WeakReference<>(null);

  /**
   * Creates an instance.
   *
   * @param uses the uses of the connection
   */
  public RecentMemory(MemoryUses<U> uses) {
    this.uses = uses;
  }

  /**
   * Returns the connection's use of memory.
   *
   * @param memory the argument given by the program
   * @return the use
   * @throws IllegalArgumentException if the memory was registered with another provider
   * @throws IllegalStateException if the registration is closed, or the memory has been freed
   */
  public U use(RegisteredMemory memory) {
    U use = last.get();
    if (use == null || use.memory() != memory) {
      MemoryUses.Known<U> found = uses.find(memory);
      last = found.reference();
      use = found.use();
    }
    use.checkOpen();
    return use;
  }
}
