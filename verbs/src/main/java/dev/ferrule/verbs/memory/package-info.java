// SPDX-License-Identifier: Apache-2.0

/** Memory in shapes that {@code malloc} does not make. */
@NullMarked
package dev.ferrule.verbs.memory;

import org.jspecify.annotations.NullMarked;
