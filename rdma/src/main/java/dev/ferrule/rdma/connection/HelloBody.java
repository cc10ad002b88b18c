// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

/**
 * The protocol-specific part of a hello.
 *
 * @param flags 8 bits
 * @param bytes the bytes; {@link HelloFormat#bodyLength()} is their number
 */
public record HelloBody(int flags, byte[] bytes) {}
