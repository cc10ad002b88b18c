// SPDX-License-Identifier: Apache-2.0
/**
 * Point-to-point message connections at the speed of the hardware: {@link dev.ferrule.Ferrule}
 * connects and listens by URI, {@link dev.ferrule.Connection} holds a {@link dev.ferrule.Sender}
 * and a {@link dev.ferrule.Receiver}.
 *
 * <p>Everything here is the same for every provider. Run-time failures are of the {@link
 * dev.ferrule.FerruleException} family.
 */
@NullMarked
package dev.ferrule;

import org.jspecify.annotations.NullMarked;
