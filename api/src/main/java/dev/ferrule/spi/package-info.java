// SPDX-License-Identifier: Apache-2.0
/**
 * What a provider of connections implements, and what providers share. Programs that only use
 * connections need nothing of this.
 */
@NullMarked
package dev.ferrule.spi;

import org.jspecify.annotations.NullMarked;
