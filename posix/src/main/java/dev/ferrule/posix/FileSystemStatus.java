// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

/**
 * The status of a file system: statfs(2).
 *
 * @param type its type, such as {@link Posix#TMPFS_MAGIC}
 * @param size its size in bytes
 * @param free the bytes that are available to this user
 */
public record FileSystemStatus(long type, long size, long free) {}
