// SPDX-License-Identifier: Apache-2.0

/**
 * A stream of bytes over a connection. Each message contains the next piece of the stream. Closing
 * the {@code Sender} ends the stream. The receiver then answers with the number of bytes written,
 * in one message of 8 bytes. If the connection ends earlier, the stream is incomplete.
 */
@NullMarked
package dev.ferrule.tools.stream;

import org.jspecify.annotations.NullMarked;
