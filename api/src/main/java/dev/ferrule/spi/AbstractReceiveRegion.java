// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import dev.ferrule.ReceiveRegion;

/** A region that is lent with a message, freed, and lent again, for providers. */
public abstract class AbstractReceiveRegion extends LentRegion implements ReceiveRegion {

  /** For providers. */
  protected AbstractReceiveRegion() {
    super("the region was freed already");
  }
}
