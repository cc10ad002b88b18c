// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

/**
 * What of a hello is the protocol's own.
 *
 * @param flags 8 bits
 * @param bytes as many as the protocol's {@link HelloFormat} says
 */
public record HelloBody(int flags, byte[] bytes) {}
