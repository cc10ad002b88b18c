// SPDX-License-Identifier: Apache-2.0

/**
 * A stream of bytes over a connection. Each message is the next piece of the stream. The close of
 * the sender ends it, and the receiver answers with the number of bytes written, in one message of
 * 8 bytes. If the connection ends earlier, the stream is incomplete.
 */
@NullMarked
package dev.ferrule.tools.stream;

import org.jspecify.annotations.NullMarked;
