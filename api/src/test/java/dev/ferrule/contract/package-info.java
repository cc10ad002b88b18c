// SPDX-License-Identifier: Apache-2.0
/**
 * The contract that every provider keeps, as abstract JUnit classes: a provider extends each of
 * them, hands its {@link dev.ferrule.contract.ProviderUnderTest} to the constructor, and changes
 * nothing else.
 *
 * <pre>{@code
 * final class SmCloseContractTest extends CloseContract {
 *   SmCloseContractTest() {
 *     super(new SmUnderTest());
 *   }
 * }
 * }</pre>
 *
 * <p>The tests only use what {@code dev.ferrule} promises. They run both ends in one process, on
 * real connections, and allow for transports that deliver and acknowledge asynchronously.
 */
@NullMarked
package dev.ferrule.contract;

import org.jspecify.annotations.NullMarked;
