// SPDX-License-Identifier: Apache-2.0
/**
 * Point-to-point message connections. {@link dev.ferrule.Ferrule} connects and listens by URI. A
 * {@link dev.ferrule.Connection} has a {@link dev.ferrule.Receiver}, a {@link dev.ferrule.Sender},
 * and further ones for other threads.
 *
 * <p>The API is the same for every provider. {@link dev.ferrule.FerruleException} states what is
 * reported by its subclasses, and what by exceptions of the JDK.
 */
@NullMarked
package dev.ferrule;

import org.jspecify.annotations.NullMarked;
