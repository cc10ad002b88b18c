// SPDX-License-Identifier: Apache-2.0

/** The transports that are compared, behind one small interface. */
@NullMarked
package dev.ferrule.lab.compare.transport;

import org.jspecify.annotations.NullMarked;
