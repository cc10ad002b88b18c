// SPDX-License-Identifier: Apache-2.0
/** Shared memory between containers, on a real engine; see CONTRIBUTING.md. */
@NullMarked
package dev.ferrule.integration.containers;

import org.jspecify.annotations.NullMarked;
