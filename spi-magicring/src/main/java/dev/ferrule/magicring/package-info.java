// SPDX-License-Identifier: Apache-2.0

/** The provider {@code magicring}: its options, its hello, and its receive side. */
@NullMarked
package dev.ferrule.magicring;

import org.jspecify.annotations.NullMarked;
