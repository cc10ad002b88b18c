// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.posix.Credentials;
import dev.ferrule.posix.SealedFile;

/**
 * The memory from which a peer receives, passed with a handshake message.
 *
 * @param file its file, to be closed when it is mapped or unused
 * @param sender the process that sent it
 */
public record PassedMemory(SealedFile file, Credentials sender) implements AutoCloseable {

  @Override
  public void close() {
    file.close();
  }
}
