// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.util.Set;

/**
 * A word of shared memory on which one thread of this process sleeps until a thread of any process
 * wakes it: futex(2). A wake-up takes one system call of the waking thread, and involves no other
 * thread.
 *
 * <p>{@link Thread#interrupt} does not wake a platform thread that sleeps here, so the interrupt is
 * translated into a wake-up. A virtual thread must not sleep here, because it would pin its
 * carrier.
 */
public final class Futex {

  private static final VarHandle WORD = ValueLayout.JAVA_INT.varHandle();

  private static final long NANOS_PER_SECOND = 1_000_000_000;

  private final MemorySegment word; // whose reachability keeps it mapped
  private final long address;
  private final Interruption interruption = new Interruption();
  private final MemorySegment timespec = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG, 2);

  /**
   * Creates a futex on a word.
   *
   * @param word the word, at a multiple of 4, which must stay accessible as long as it is
   *     reachable: a thread that interrupts another one may use it when that one has already left
   *     {@link #await}
   */
  public Futex(MemorySegment word) {
    this.word = word;
    this.address = RawMemory.address(word);
  }

  /**
   * Sleeps, unless the word has another value. May return spuriously; the caller checks its
   * condition again. Called by one thread at a time.
   *
   * @param value the expected value of the word
   * @param nanos the timeout; {@link Long#MAX_VALUE} means none
   */
  public void await(int value, long nanos) {
    if (nanos <= 0) {
      return;
    }
    long time = 0;
    if (nanos != Long.MAX_VALUE) {
      timespec.set(ValueLayout.JAVA_LONG, 0, nanos / NANOS_PER_SECOND);
      timespec.set(ValueLayout.JAVA_LONG, Long.BYTES, nanos % NANOS_PER_SECOND);
      time = timespec.address();
    }
    interruption.enter();
    try {
      Posix.futexWait(address, value, time);
    } finally {
      interruption.leave();
      Reference.reachabilityFence(this);
      Reference.reachabilityFence(word);
    }
  }

  /** Wakes the thread that sleeps or is about to: sets the word to 0 first. */
  public void release() {
    WORD.setOpaque(RawMemory.ALL, address, 0);
    wake(address);
    Reference.reachabilityFence(word);
  }

  /**
   * Wakes the thread that sleeps on a word. A thread that is about to sleep does so, unless the
   * word has changed before.
   *
   * @param address the word's address
   */
  public static void wake(long address) {
    Posix.futexWake(address);
  }

  /**
   * Intercepts interrupts by the mechanism intended for selectors, the only one that the platform
   * offers: while a thread is between {@link #enter} and {@link #leave}, its interruption,
   * including an earlier one, calls {@link #wakeup}. No other part of a selector is used.
   */
  private final class Interruption extends AbstractSelector {

    Interruption() {
      super(SelectorProvider.provider());
    }

    void enter() {
      begin();
    }

    void leave() {
      end();
    }

    @Override
    public Selector wakeup() {
      release();
      return this;
    }

    @Override
    protected void implCloseSelector() {}

    @Override
    protected SelectionKey register(
        AbstractSelectableChannel channel, int operations, Object attachment) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Set<SelectionKey> keys() {
      throw new UnsupportedOperationException();
    }

    @Override
    public Set<SelectionKey> selectedKeys() {
      throw new UnsupportedOperationException();
    }

    @Override
    public int selectNow() {
      throw new UnsupportedOperationException();
    }

    @Override
    public int select(long timeout) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int select() {
      throw new UnsupportedOperationException();
    }
  }
}
