// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.sm.os.Knem;
import dev.ferrule.sm.ring.RingEnds;
import org.jspecify.annotations.Nullable;

/**
 * What connections are made with, in place of which tests put something else.
 *
 * @param knem the driver; null if there is none
 * @param ends makes the ends of rings
 */
record Facilities(@Nullable Knem knem, RingEnds ends) {}
