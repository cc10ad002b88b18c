// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import dev.ferrule.sm.os.Knem;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A way in which remote memory access copies; in the order of preference. */
public enum CopyPath {
  /** By the driver KNEM: the initiator alone, in the kernel. */
  KNEM {
    @Override
    @Nullable DirectCopy open(RmaArea peer, @Nullable Knem driver) {
      return driver == null ? null : new KnemCopy(driver, peer);
    }

    @Override
    String absence() {
      return "there is no /dev/knem that this process can use";
    }
  },

  /** By cross-memory attach: the initiator alone, in the kernel. */
  CMA {
    @Override
    DirectCopy open(RmaArea peer, @Nullable Knem driver) {
      return new CmaCopy(peer);
    }

    @Override
    String absence() {
      return "";
    }
  },

  /** Fragments through a mapped buffer, which the target copies. Always works. */
  MMAP {
    @Override
    @Nullable DirectCopy open(RmaArea peer, @Nullable Knem driver) {
      return null;
    }

    @Override
    String absence() {
      return "";
    }
  };

  /** Makes the way to a peer; null if the initiator alone cannot go it. */
  abstract @Nullable DirectCopy open(RmaArea peer, @Nullable Knem driver);

  /** Why there is none. */
  abstract String absence();

  /** Which ways a program allows. */
  public enum Choice {
    /** The best one that works. */
    AUTO,

    /** Only KNEM; and this side's memory is exposed by KNEM as well. */
    KNEM,

    /** Only cross-memory attach. */
    CMA,

    /** Only fragments. */
    MMAP;

    /**
     * Returns the ways, the preferred one first.
     *
     * @return the ways
     */
    List<CopyPath> paths() {
      return this == AUTO ? List.of(CopyPath.values()) : List.of(CopyPath.valueOf(name()));
    }
  }

  /**
   * The ways that are left to a connection. Which of them works is found out by copying a word of
   * the peer's; and one that fails later gives way to the next.
   *
   * <p>One thread at a time uses one.
   */
  public static final class Ways {

    private static final String NOT_TRUSTED = "the peer's process is another user's (access=group)";

    private final RmaArea peer;
    private final @Nullable Knem driver;
    private final List<CopyPath> left;
    private final List<String> failed = new ArrayList<>();
    private @Nullable CopyPath path;
    private @Nullable DirectCopy direct;
    private volatile boolean mayHaveLostPeer;

    /**
     * Finds the first way that works.
     *
     * @param choice which are allowed
     * @param peer the peer's area
     * @param driver KNEM; null if there is none
     */
    public Ways(Choice choice, RmaArea peer, @Nullable Knem driver) {
      this.peer = peer;
      this.driver = driver;
      this.left = new ArrayList<>(choice.paths());
      next();
    }

    /** Goes on to the next way that works. */
    private void next() {
      path = null;
      direct = null;
      while (path == null && !left.isEmpty()) {
        CopyPath candidate = left.remove(0);
        if (candidate == MMAP) {
          path = candidate;
          return;
        }
        if (!peer.isTrusted()) {
          failed.add(candidate.name().toLowerCase(Locale.ROOT) + ": " + NOT_TRUSTED);
          continue;
        }
        DirectCopy opened = candidate.open(peer, driver);
        DirectCopy.Obstacle obstacle =
            opened == null ? new DirectCopy.Obstacle(candidate.absence(), false) : opened.probe();
        if (obstacle == null) {
          path = candidate;
          direct = opened;
        } else {
          failed.add(candidate.name().toLowerCase(Locale.ROOT) + ": " + obstacle.reason());
          mayHaveLostPeer |= obstacle.mayBeItsEnd();
        }
      }
    }

    /**
     * The way has failed; goes on to the next one.
     *
     * @param problem how it failed
     */
    public void giveUp(String problem) {
      CopyPath known = path;
      if (known != null) {
        failed.add(known.name().toLowerCase(Locale.ROOT) + ": " + problem);
        next();
      }
    }

    /**
     * Returns whether a way has failed as it does when the peer's process has ended.
     *
     * @return whether it may have ended
     */
    public boolean mayHaveLostPeer() {
      return mayHaveLostPeer;
    }

    /**
     * Returns whether there are further ways, which may work or not.
     *
     * @return whether {@link #giveUp} may find one
     */
    public boolean hasNext() {
      return !left.isEmpty();
    }

    /**
     * Returns the way that is taken.
     *
     * @return the way; null if there is none
     */
    public @Nullable CopyPath path() {
      return path;
    }

    /**
     * Returns how the initiator alone copies.
     *
     * @return the way; null if it is by fragments, or there is none
     */
    public @Nullable DirectCopy direct() {
      return direct;
    }

    /**
     * Says why other ways are not taken.
     *
     * @return one reason for each that was tried and did not work
     */
    public List<String> failures() {
      return List.copyOf(failed);
    }
  }
}
