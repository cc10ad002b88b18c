// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import dev.ferrule.sm.os.Knem;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The methods of copying for remote memory access, in the order of preference. */
public enum CopyPath {
  /** By the KNEM driver: the initiator copies alone (one-sided), in the kernel. */
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

  /** By cross-memory attach: the initiator copies alone (one-sided), in the kernel. */
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

  /** By fragments through a mapped buffer, which the target copies. Always works. */
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

  /** Opens the method to a peer; null if it is not one-sided. */
  abstract @Nullable DirectCopy open(RmaArea peer, @Nullable Knem driver);

  /** Returns why the method is missing. */
  abstract String absence();

  /** The methods that a program allows. */
  public enum Choice {
    /** The best method that works. */
    AUTO,

    /** Only KNEM; this side's memory is exposed by KNEM, too. */
    KNEM,

    /** Only cross-memory attach. */
    CMA,

    /** Only fragments. */
    MMAP;

    /** {@return the methods, the preferred one first} */
    List<CopyPath> paths() {
      return this == AUTO ? List.of(CopyPath.values()) : List.of(CopyPath.valueOf(name()));
    }
  }

  /**
   * The remaining methods of a connection. A method is tested by copying a word of the peer's; one
   * that fails later is replaced by the next.
   *
   * <p>Used by one thread at a time.
   */
  public static final class Ways {

    private static final String NOT_TRUSTED = "the peer runs as another user (access=group)";

    private final RmaArea peer;
    private final @Nullable Knem driver;
    private final List<CopyPath> left;
    private final List<String> failed = new ArrayList<>();
    private @Nullable CopyPath path;
    private @Nullable DirectCopy direct;
    private volatile boolean mayHaveLostPeer;

    /**
     * Selects the first method that works.
     *
     * @param choice the allowed methods
     * @param peer the peer's area
     * @param driver KNEM; null if there is none
     */
    public Ways(Choice choice, RmaArea peer, @Nullable Knem driver) {
      this.peer = peer;
      this.driver = driver;
      this.left = new ArrayList<>(choice.paths());
      next();
    }

    /** Selects the next method that works. */
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
     * Abandons the current method after a failure, and selects the next one.
     *
     * @param problem the failure
     */
    public void giveUp(String problem) {
      CopyPath known = path;
      if (known != null) {
        failed.add(known.name().toLowerCase(Locale.ROOT) + ": " + problem);
        next();
      }
    }

    /** {@return whether a method has failed as it does when the peer's process has ended} */
    public boolean mayHaveLostPeer() {
      return mayHaveLostPeer;
    }

    /** {@return whether there are further methods, which may work or not} */
    public boolean hasNext() {
      return !left.isEmpty();
    }

    /** {@return the selected method; null if there is none} */
    public @Nullable CopyPath path() {
      return path;
    }

    /** {@return the one-sided copy; null if the method is by fragments, or there is none} */
    public @Nullable DirectCopy direct() {
      return direct;
    }

    /**
     * Returns why other methods are not selected.
     *
     * @return one reason for each that was tried and did not work
     */
    public List<String> failures() {
      return List.copyOf(failed);
    }
  }
}
