// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.ExposedMemory;
import dev.ferrule.FerruleException;
import dev.ferrule.RemoteAccessException;
import dev.ferrule.RemoteMemory;
import dev.ferrule.RmaHandle;
import dev.ferrule.RmaRight;
import dev.ferrule.Sender;
import dev.ferrule.posix.Errno;
import dev.ferrule.posix.PosixException;
import dev.ferrule.sm.ring.CorruptRingException;
import dev.ferrule.sm.rma.CopyPath;
import dev.ferrule.sm.rma.DirectCopy;
import dev.ferrule.sm.rma.ExposedRegion;
import dev.ferrule.sm.rma.FragmentServer;
import dev.ferrule.sm.rma.RemoteRegion;
import dev.ferrule.sm.rma.RemoteTable;
import dev.ferrule.sm.rma.RmaArea;
import dev.ferrule.sm.rma.RmaLayout;
import dev.ferrule.sm.rma.Transfer;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.support.AbstractRma;
import dev.ferrule.support.RmaKey;
import dev.ferrule.support.Threads;
import dev.ferrule.support.Waiter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.net.URI;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Remote memory access of a connection. It is one-sided if both processes have mapped the memory,
 * or if the kernel lets this process copy from and to the peer's memory. Otherwise it takes
 * fragments, which the peer's endpoint thread copies. Atomic operations on memory that is not
 * mapped always take fragments.
 */
final class SmRma extends AbstractRma<SmMemoryUse, RemoteRegion> {

  /** Maximum piece of a one-sided copy, so that a target that takes memory back waits briefly. */
  private static final long DIRECT_PIECE = 16L << 20;

  private static final String NOT_MAPPED =
      "the memory is not mapped: either side has freed it, or truncated its file, while it was"
          + " exposed or registered";

  private static final long PAUSE_NANOS = 20_000;

  /** Maximum delay in detecting the end of a peer's process. */
  private static final long PEER_GONE_NANOS = 1_000_000_000L;

  private final SmConnection connection;
  private final SmConnectionResources resources;
  private final CopyPath.Choice choice;
  private final SmExposures exposures;
  private final RemoteTable remote;
  private final FragmentServer server;
  private final FragmentOperations fragments;
  private final CopyPath.Selection selection;
  private final LocalUse localUse = new LocalUse();
  private final Transfer transfer = new Transfer();

  /** Whether the end of an unreachable peer was awaited, which is done once. */
  private volatile boolean endAwaited;

  SmRma(
      SmConnection connection,
      SmConnectionResources resources,
      ResolvedOptions options,
      Waiter waiter) {
    super(connection.registeredMemory());
    this.connection = connection;
    this.resources = resources;
    this.choice = options.get(SmOptions.RMA);
    RmaArea own = resources.own().rma();
    RmaArea peer = resources.peerRing().rma();
    exposures = new SmExposures(connection, resources, options);
    remote = new RemoteTable(own, peer);
    server =
        new FragmentServer(
            own, peer, exposures.table(), () -> resources.peer().notifyFragmentsDone());
    fragments = new FragmentOperations(this, connection, resources, transfer, waiter);
    selection = new CopyPath.Selection(choice, peer, resources.knem());
  }

  @Override
  protected URI uri() {
    return connection.uri();
  }

  @Override
  protected void checkOpen() {
    connection.checkOpen();
  }

  @Override
  protected Sender sender() {
    return connection.sender();
  }

  /**
   * Throws if the method that the program chose is not available. If this side exposes its memory
   * by KNEM, there is no check, because the peer may use KNEM for that memory.
   */
  void checkAvailable() {
    if (resources.exposingKnem() == null) {
      checkSelected();
    }
  }

  private void checkSelected() {
    if (selection.path() == null) {
      if (selection.mayHaveLostPeer() && !endAwaited) {
        endAwaited = true;
        connection.awaitEnd(PEER_GONE_NANOS);
      }
      connection.checkOpen(); // the end of the connection is the more useful reason
      throw new FerruleException(
          uri(),
          "remote memory access is not possible: option rma="
              + choice.name().toLowerCase(Locale.ROOT)
              + " does not work here ("
              + String.join("; ", selection.failures())
              + "); use rma=auto, which selects a method that works",
          null);
    }
  }

  /** Returns the mechanism that copies, for the counters. */
  Optional<String> path() {
    return Optional.ofNullable(selection.path()).map(path -> path.name().toLowerCase(Locale.ROOT));
  }

  @Override
  public ExposedMemory expose(MemorySegment memory, RmaRight... rights) {
    connection.checkOpen();
    return exposed(exposures.add(memory, checkExposable(memory, rights)));
  }

  @Override
  public ExposedMemory allocate(long size, RmaRight... rights) {
    connection.checkOpen();
    return exposed(exposures.allocate(size, checkAllocatable(size, rights)));
  }

  private SmExposedMemory exposed(@Nullable ExposedRegion region) {
    if (region == null) {
      throw tooMuchExposed(RmaLayout.MAX_REGIONS);
    }
    return new SmExposedMemory(exposures, region);
  }

  @Override
  public RemoteMemory attach(RmaHandle handle) {
    connection.checkOpen();
    RmaKey key = decode(handle);
    RemoteRegion found = remote.find(key);
    Reference.reachabilityFence(this);
    if (found == null) {
      checkNotClosed();
      throw notExposed();
    }
    return found;
  }

  /**
   * Checks that the peer has not closed. A peer that closes takes everything back first, but its
   * close is the more useful reason.
   */
  private void checkNotClosed() {
    connection.onPeerClosed();
    connection.checkOpen();
  }

  /** Takes everything back, as the connection is being closed. */
  void close() {
    // one deadline for all: a hostile peer can claim to copy from each of them in turn
    long deadline = exposures.deadline();
    // otherwise the peer would consider this side done with its memory
    localUse.awaitNone(deadline);
    fragments.abandonAll(); // a thread that waits for an operation may be copying its bytes
    exposures.endAll(deadline);
  }

  /**
   * Waits until no access in progress uses memory whose registration is being closed.
   *
   * @param start when the wait began, by System.nanoTime
   * @return false after a timeout
   */
  boolean awaitUnused(SmMemoryUse memory, long start) {
    long deadline = start + exposures.releaseTimeoutNanos();
    boolean unused = localUse.awaitUnused(memory, deadline);
    while (unused && !connection.hasEnded() && !fragments.isOver(memory.lastFragments())) {
      unused = deadline - System.nanoTime() > 0;
      Threads.pause(PAUSE_NANOS);
    }
    if (connection.hasEnded()) {
      fragments.abandonAll(); // otherwise bytes that are read later would be written there
    }
    return unused;
  }

  /** Ends the connection because the peer does not complete an access to registered memory. */
  void giveUp() {
    connection.giveUp(
        "timed out closing registered memory: the peer did not complete the last access to it"
            + " within closeTimeout");
    fragments.abandonAll();
  }

  @Override
  protected RemoteRegion remote(RemoteMemory memory) {
    if (!(memory instanceof RemoteRegion region) || !region.belongsTo(remote)) {
      throw new IllegalArgumentException("the memory was attached by another connection");
    }
    return region;
  }

  @Override
  protected boolean begin(
      RmaRight right,
      SmMemoryUse local,
      long localOffset,
      RemoteRegion region,
      long remoteOffset,
      long length,
      long id) {
    boolean write = right == RmaRight.WRITE;
    boolean atomic = right == RmaRight.ATOMIC;
    if (!region.isMapped() && !atomic) {
      checkSelected();
    }
    try {
      localUse.begin(local);
      if (region.isMapped()) {
        if (!fragments.awaitSubmitted(tries(), deadline())) {
          return false; // operations are executed one after the other
        }
        if (atomic) {
          changeMapped(local.segment(), localOffset, region, remoteOffset);
        } else {
          copyMapped(write, local.segment(), localOffset, region, remoteOffset, length);
        }
        fragments.completed(id);
        return true;
      } else {
        transfer.begin(write, local.segment(), localOffset, region, remoteOffset, length);
        if (atomic) {
          transfer.makeAtomic(swaps(), operand(), desired());
        }
        return perform(atomic, local, region, id);
      }
    } catch (CorruptRingException e) {
      throw connection.failCorrupt(e);
    } catch (InternalError e) {
      throw connection.failOwnFile(e);
    } finally {
      localUse.end();
      Reference.reachabilityFence(this);
    }
  }

  /** Copies from or to memory that both processes have mapped. */
  private void copyMapped(
      boolean write,
      MemorySegment local,
      long localOffset,
      RemoteRegion region,
      long remoteOffset,
      long length) {
    long copied = 0;
    do {
      long piece = Math.min(length - copied, DIRECT_PIECE);
      acquire(region);
      try {
        region.copy(write, remoteOffset + copied, local, localOffset + copied, piece);
      } finally {
        remote.release();
      }
      copied += piece;
    } while (copied < length);
    VarHandle.loadLoadFence();
    connection.checkNotReleased(); // otherwise the copied bytes may be the zeros of retired memory
  }

  /** Changes a word of memory that both processes have mapped. */
  private void changeMapped(
      MemorySegment local, long localOffset, RemoteRegion region, long remoteOffset) {
    long previous;
    acquire(region);
    try {
      previous = region.change(swaps(), remoteOffset, operand(), desired());
    } finally {
      remote.release();
    }
    VarHandle.loadLoadFence();
    connection.checkNotReleased(); // otherwise the word may be one of retired memory
    local.set(ValueLayout.JAVA_LONG, localOffset, previous);
  }

  /**
   * Performs the operation on memory that is not mapped: one-sidedly or by fragments; an atomic
   * operation always by fragments.
   */
  private boolean perform(boolean atomic, SmMemoryUse local, RemoteRegion region, long id) {
    try {
      boolean tries = tries();
      if (!atomic && selection.direct() != null) {
        if (!fragments.awaitSubmitted(tries, deadline())) {
          return false; // an atomic operation; they are executed one after the other
        }
        copyDirectly(region);
        if (selection.direct() != null) {
          fragments.completed(id);
          return true;
        }
        tries = false; // waits for the rest, as the one-sided copy has just failed
      }
      if (!fragments.submit(id, tries, deadline())) {
        return false;
      }
      local.usedByFragments(id); // not before: an operation that failed has no fragments
      return true;
    } finally {
      transfer.end();
    }
  }

  /** Prevents the peer from taking a region back until the release, if it is still exposed. */
  private void acquire(RemoteRegion region) {
    connection.checkOpen();
    if (!remote.acquire(region)) {
      checkNotClosed();
      throw revoked();
    }
  }

  /** Copies one-sidedly until all is copied, or no one-sided method is left. */
  private void copyDirectly(RemoteRegion region) {
    for (DirectCopy direct = selection.direct(); direct != null; direct = selection.direct()) {
      acquire(region);
      long piece = Math.min(transfer.length(), DIRECT_PIECE);
      boolean reached;
      long result = 0;
      try {
        reached = piece == 0 || direct.reaches(region);
        if (piece > 0 && reached) {
          result = direct.copy(transfer, piece);
        }
      } finally {
        remote.release();
      }
      if (!reached) {
        onUnreachable();
      } else if (result < 0) {
        onDirectFailure(direct, (int) -result);
      } else {
        transfer.advance(result);
        if (transfer.length() == 0) {
          return;
        }
      }
    }
  }

  /** Handles a failed copy: the peer or the memory is gone, or this method no longer works. */
  private void onDirectFailure(DirectCopy direct, int errno) {
    boolean mayBeLost = direct.mayHaveLostPeer(errno);
    if (mayBeLost) {
      connection.awaitEnd(PEER_GONE_NANOS);
      endAwaited = true;
    }
    connection.checkOpen();
    if (errno == Errno.EFAULT && !mayBeLost) {
      throw notThere();
    }
    selection.selectNext(PosixException.describe("copying", errno));
    checkSelected();
  }

  /** Handles memory that this method cannot reach, although it reaches the peer. */
  private void onUnreachable() {
    String problem =
        "the peer's driver could not pin the memory (a private mapping that is read-only, or too"
            + " little memory)";
    if (!selection.hasNext()) {
      throw new RemoteAccessException(
          uri(), "rma=knem cannot access this memory: " + problem + "; set rma=auto", null);
    }
    selection.selectNext(problem);
  }

  private RemoteAccessException notThere() {
    return new RemoteAccessException(uri(), NOT_MAPPED, null);
  }

  /** Records that the peer has not copied a fragment, with the reason. */
  void onFailedFragment(long id, int status) {
    switch (status) {
      case RmaLayout.NO_REGION -> {
        checkNotClosed();
        failed(id, REVOKED);
      }
      case RmaLayout.DENIED ->
          failed(
              id,
              "the peer refused the access: it does not expose that part of the memory, or not with"
                  + " that right, or the word is not aligned in its memory");
      case RmaLayout.FAULT -> failed(id, NOT_MAPPED);
      default -> throw new CorruptRingException("invalid fragment status " + status);
    }
  }

  @Override
  protected boolean isDone(long id) {
    return fragments.isDone(id);
  }

  @Override
  protected boolean awaitDone(long id, long deadline) {
    return fragments.awaitDone(id, deadline);
  }

  @Override
  public void fence() {
    connection.checkOpen();
    fragments.awaitFetched(); // all others are ordered already, by the kernel and by fragments
  }

  /**
   * Handles fragments of the peer's; called by the endpoint's thread. Returns whether there are
   * more.
   */
  boolean serve() {
    try {
      return !connection.hasEnded() && server.serve();
    } catch (CorruptRingException e) {
      connection.failCorrupt(e);
      return false;
    } catch (InternalError e) { // late, for a word of a file that the program has truncated
      IllegalStateException ignored = connection.failOwnFile(e);
      return false;
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** Returns whether {@link #serve} has something to do; false if it would fail. */
  boolean hasToServe() {
    try {
      return !connection.hasEnded() && server.isAnyWaiting();
    } catch (CorruptRingException e) {
      return false;
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  void wake() {
    fragments.wake();
  }

  long sleeps() {
    return fragments.sleeps();
  }
}
