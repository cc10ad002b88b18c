// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.sm.os.Knem;
import org.jspecify.annotations.Nullable;

/**
 * The facilities that connections are created with, which tests replace.
 *
 * @param knem the driver, for access to the peer's memory; null if there is none
 * @param exposingKnem the driver, for the peer's access to this side's memory; null if there is
 *     none, or the program has not chosen it: see {@link SmOptions#RMA}
 */
record Facilities(@Nullable Knem knem, @Nullable Knem exposingKnem) {}
