// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.rma;

import dev.ferrule.sm.os.Knem;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The methods of copying for remote memory access, in order of preference. */
public enum CopyPath {
  /** By the KNEM driver: the initiator copies alone (one-sided), in the kernel. */
  KNEM,

  /** By cross-memory attach: the initiator copies alone (one-sided), in the kernel. */
  CMA,

  /** By fragments through a mapped buffer, which the target copies. Always works. */
  MMAP;

  /** The methods that a program allows. */
  public enum Choice {
    /** The best method that works. */
    AUTO,

    /** Only KNEM; this side also exposes its memory by KNEM. */
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
   * Selects the method of a connection. A method is tested by copying a word of the peer's; one
   * that fails later is replaced by the next.
   *
   * <p>Used by one thread at a time.
   */
  public static final class Selection {

    private final RmaArea peer;
    private final @Nullable Knem driver;
    private final List<CopyPath> left;
    private final List<String> failures = new ArrayList<>();
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
    public Selection(Choice choice, RmaArea peer, @Nullable Knem driver) {
      this.peer = peer;
      this.driver = driver;
      this.left = new ArrayList<>(choice.paths());
      select();
    }

    /** Selects the next method that works. */
    private void select() {
      path = null;
      direct = null;
      while (path == null && !left.isEmpty()) {
        CopyPath candidate = left.remove(0);
        DirectCopy.Obstacle obstacle = candidate == MMAP ? null : openDirect(candidate);
        if (obstacle == null) {
          path = candidate;
        } else {
          failed(candidate, obstacle.reason());
          mayHaveLostPeer |= obstacle.mayBeItsEnd();
        }
      }
    }

    /** Opens a one-sided copy; returns the reason if it does not work. */
    private DirectCopy.@Nullable Obstacle openDirect(CopyPath candidate) {
      if (!peer.isTrusted()) {
        return new DirectCopy.Obstacle("the peer runs as another user (access=group)", false);
      }
      DirectCopy opened;
      if (candidate == CMA) {
        opened = new CmaCopy(peer);
      } else if (driver != null) {
        opened = new KnemCopy(driver, peer);
      } else {
        return new DirectCopy.Obstacle("there is no /dev/knem that this process can use", false);
      }
      DirectCopy.Obstacle obstacle = opened.probe();
      direct = obstacle == null ? opened : null;
      return obstacle;
    }

    private void failed(CopyPath candidate, String problem) {
      failures.add(candidate.name().toLowerCase(Locale.ROOT) + ": " + problem);
    }

    /**
     * Abandons the current method after a failure, and selects the next one.
     *
     * @param problem the failure
     */
    public void selectNext(String problem) {
      CopyPath known = path;
      if (known != null) {
        failed(known, problem);
        select();
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

    /** {@return why other methods are not selected: a reason for each that did not work} */
    public List<String> failures() {
      return List.copyOf(failures);
    }
  }
}
