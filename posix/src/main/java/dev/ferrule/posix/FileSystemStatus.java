// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

/**
 * The status of a file system: statfs(2).
 *
 * @param free the bytes that are available to this user
 * @param freeFiles how many files can be created; {@link Long#MAX_VALUE} if it has no limit
 */
public record FileSystemStatus(long free, long freeFiles) {}
