// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

import dev.ferrule.verbs.VerbsException;
import java.lang.foreign.Arena;

/**
 * What the connections of a listener on one device receive into, together.
 *
 * <p><b>Threads:</b> any thread may call.
 */
public interface SharedReceiveSide extends AutoCloseable {

  /**
   * Returns how many receives there are in all. Each completion takes one of them until it is
   * polled, so there are never more completions than receives, whatever the peers send; but a
   * single peer that ignores its credit can cause as many.
   *
   * @return the number
   */
  int receives();

  /**
   * Takes in a connection.
   *
   * @param arena the connection's memory; closed after its receive side is
   * @return the connection's part, to be closed
   * @throws VerbsException if there is no room for one more
   */
  ReceiveSide admit(Arena arena);

  /**
   * A receive is done and belongs to nobody, as its connection is closed. Under a lock, so this
   * must not block.
   *
   * @param receive the work request's id
   */
  void stray(int receive);

  /** Gives everything up, once no connection is left. */
  @Override
  void close();
}
