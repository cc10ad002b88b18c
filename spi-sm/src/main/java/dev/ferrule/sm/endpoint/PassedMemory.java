// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.sm.os.SealedFile;

/**
 * The memory from which a peer receives, as it came with a message of the handshake.
 *
 * @param file its file, to be closed when it is mapped or not wanted
 * @param isTrusted whether a process of this user has sent it, as the kernel knows
 */
public record PassedMemory(SealedFile file, boolean isTrusted) implements AutoCloseable {

  @Override
  public void close() {
    file.close();
  }
}
