// SPDX-License-Identifier: Apache-2.0
/**
 * The contract of every provider, as abstract JUnit classes. A provider extends each of them,
 * passes its {@link dev.ferrule.contract.ProviderUnderTest} to the constructor, and changes nothing
 * else. Only {@link dev.ferrule.contract.RmaContract}, {@link dev.ferrule.contract.AtomicsContract}
 * and {@link dev.ferrule.contract.ReadinessContract} may be left out, by a provider that does not
 * support what they are about.
 *
 * <pre>{@code
 * final class MyCloseContractTest extends CloseContract {
 *   MyCloseContractTest() {
 *     super(new MyProviderUnderTest());
 *   }
 * }
 * }</pre>
 *
 * <p>The tests use only the public API of {@code dev.ferrule}. They run both ends in one process,
 * on real connections, and tolerate transports that deliver and acknowledge asynchronously.
 */
@NullMarked
package dev.ferrule.contract;

import org.jspecify.annotations.NullMarked;
