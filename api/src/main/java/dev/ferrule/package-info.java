// SPDX-License-Identifier: Apache-2.0
/**
 * Point-to-point message connections. {@link dev.ferrule.Ferrule} connects and listens by URI. A
 * {@link dev.ferrule.Connection} consists of a {@link dev.ferrule.Sender} and a {@link
 * dev.ferrule.Receiver}.
 *
 * <p>The API is the same for every provider. Run-time failures are reported by subclasses of {@link
 * dev.ferrule.FerruleException}.
 */
@NullMarked
package dev.ferrule;

import org.jspecify.annotations.NullMarked;
