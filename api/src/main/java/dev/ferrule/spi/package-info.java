// SPDX-License-Identifier: Apache-2.0
/**
 * The interface that connection providers implement. Programs that only use connections do not need
 * it. "Writing a provider" in docs/architecture.md describes what a provider must do; the package
 * {@code dev.ferrule.queue} in the tests of the module {@code contract} is an example.
 */
@NullMarked
package dev.ferrule.spi;

import org.jspecify.annotations.NullMarked;
