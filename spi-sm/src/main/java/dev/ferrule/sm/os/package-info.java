// SPDX-License-Identifier: Apache-2.0
/**
 * How the shared-memory provider uses the operating system: its directories and their users, lock
 * files, files of peers, and the KNEM driver.
 */
@NullMarked
package dev.ferrule.sm.os;

import org.jspecify.annotations.NullMarked;
