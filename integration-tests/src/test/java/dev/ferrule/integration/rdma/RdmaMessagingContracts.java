// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import dev.ferrule.contract.FreeContract;
import dev.ferrule.contract.MessagingContract;
import dev.ferrule.contract.ProviderUnderTest;
import dev.ferrule.contract.SilentProgramContract;
import org.junit.jupiter.api.Nested;

/**
 * The contracts of the API that each mode of a provider runs. A mode that changes the path of other
 * contracts has these as well:
 *
 * <table>
 * <caption>Contracts by mode</caption>
 * <tr><th>mode</th><th>contracts by default</th><th>reason</th></tr>
 * <tr><td>{@link SendRecvContractTest sendrecv}, {@link MagicRingContractTest magicring}</td>
 *     <td>all, with {@link SendRecvRmaContractTest RMA} and {@link SendRecvAtomicsContractTest
 *     atomic operations}</td><td>the default modes</td></tr>
 * <tr><td>{@link SendRecvSharedReceivesContractTest sendrecv, srq=on}</td>
 *     <td>and Claim, EndOfStream</td><td>shares of the common receives grow while messages are
 *     claimed, and are given back at the end</td></tr>
 * <tr><td>{@link SendRecvSingleReceiverContractTest sendrecv, singleReceiver=on}</td>
 *     <td>and Wait, Readiness, NewSender, EndOfStream</td>
 *     <td>several connections, and senders of one, wait for one completion queue</td></tr>
 * <tr><td>{@link SendRecvListenerReceiverContractTest sendrecv, Listener.receiver()}</td>
 *     <td>and Allocation</td><td>another receiver, which must not allocate either</td></tr>
 * <tr><td>{@link SendRecvSharedReceivesAndReceiverContractTest sendrecv, both}</td>
 *     <td>these</td><td>the combination; each alone is tested above</td></tr>
 * <tr><td>{@link MagicRingListenerReceiverContractTest magicring, Listener.receiver()}</td>
 *     <td>these</td><td>shares its receiver with sendrecv's</td></tr>
 * <tr><td>{@link MagicRingPlainContractTest magicring, mapping=plain}</td>
 *     <td>and Boundary</td><td>messages must not cross the end of the ring</td></tr>
 * </table>
 *
 * <p>The others run with {@code ./test --whole}, in the classes tagged {@code whole}. All other
 * contracts test what does not depend on the mode: the connection's handshake, lifecycle, counters
 * and memory.
 */
@RdmaTest
abstract class RdmaMessagingContracts {

  /** Returns the provider under test, new for each test. */
  abstract ProviderUnderTest underTest();

  @Nested
  class Free extends FreeContract {
    Free() {
      super(underTest());
    }
  }

  @Nested
  class SilentProgram extends SilentProgramContract {
    SilentProgram() {
      super(underTest());
    }
  }

  @Nested
  class Messaging extends MessagingContract {
    Messaging() {
      super(underTest());
    }
  }
}
