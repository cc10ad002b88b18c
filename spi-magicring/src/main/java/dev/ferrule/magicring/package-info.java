// SPDX-License-Identifier: Apache-2.0

/** The provider {@code magicring}: its options, its hello, and what it receives into. */
@NullMarked
package dev.ferrule.magicring;

import org.jspecify.annotations.NullMarked;
