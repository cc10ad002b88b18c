// SPDX-License-Identifier: Apache-2.0

/** Compares Ferrule with other messaging libraries and transports, in one interleaved run. */
@NullMarked
package dev.ferrule.lab.compare;

import org.jspecify.annotations.NullMarked;
