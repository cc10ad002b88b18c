// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.sm.os.Credentials;
import dev.ferrule.sm.os.SealedFile;

/**
 * The memory from which a peer receives, as it came with a message of the handshake.
 *
 * @param file its file, to be closed when it is mapped or not wanted
 * @param sender the process that has sent it
 */
public record PassedMemory(SealedFile file, Credentials sender) implements AutoCloseable {

  @Override
  public void close() {
    file.close();
  }
}
