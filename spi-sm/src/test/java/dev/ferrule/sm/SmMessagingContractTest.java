// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.contract.MessagingContract;

final class SmMessagingContractTest extends MessagingContract {
  SmMessagingContractTest() {
    super(new SmUnderTest());
  }
}
