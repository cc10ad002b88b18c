// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import dev.ferrule.ReceiveRegion;

/** The base class of receive regions. A region is lent with a message, freed, and reused. */
public abstract class AbstractReceiveRegion extends LentRegion implements ReceiveRegion {

  /** Creates a region that is not lent. */
  protected AbstractReceiveRegion() {
    super("the region was already freed");
  }
}
