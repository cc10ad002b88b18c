// SPDX-License-Identifier: Apache-2.0
/**
 * The service provider interface: a transport implements {@link
 * dev.ferrule.spi.ConnectionProvider}, which programs use through {@link dev.ferrule.Ferrule}. The
 * other types help it: {@link dev.ferrule.spi.ResolvedOptions} resolves options, and {@link
 * dev.ferrule.spi.ConnectionMonitor} reports connections to JDK Flight Recorder.
 *
 * <p>"Writing a provider" in docs/architecture.md describes what a provider must do; the package
 * {@code dev.ferrule.queue} in the tests of the module {@code contract} is an example.
 */
@NullMarked
package dev.ferrule.spi;

import org.jspecify.annotations.NullMarked;
