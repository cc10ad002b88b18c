// SPDX-License-Identifier: Apache-2.0

/**
 * One stream of bytes over a connection. Each message is the next piece of it; a message without
 * bytes ends it, and the receiver answers that with the number of bytes it has written, in one
 * message of 8 bytes. A connection that ends before that was cut off.
 */
package dev.ferrule.tools.stream;
