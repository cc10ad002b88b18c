// SPDX-License-Identifier: Apache-2.0
/**
 * The interface that connection providers implement. Programs that only use connections do not need
 * it.
 */
@NullMarked
package dev.ferrule.spi;

import org.jspecify.annotations.NullMarked;
