// SPDX-License-Identifier: Apache-2.0
/** Calls of C functions, with their errors as values. Not for programs. */
@NullMarked
package dev.ferrule.posix;

import org.jspecify.annotations.NullMarked;
