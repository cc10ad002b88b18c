// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

/**
 * Runs the actions of an endpoint's thread. All connections of the endpoint depend on the thread,
 * so the failure of one of them must not end it.
 */
class Guard {

  private static final System.Logger LOGGER = System.getLogger(Endpoint.class.getName());

  private final SmAddress address;

  Guard(SmAddress address) {
    this.address = address;
  }

  /** Runs an action and logs its failure. */
  void run(Runnable action) {
    try {
      action.run();
    } catch (Throwable e) { // including an error of one connection
      warn(e);
    }
  }

  /** Logs a failure. Tests override it to see the failure. */
  void warn(Throwable problem) {
    try {
      LOGGER.log(System.Logger.Level.WARNING, "in endpoint " + address.uri(), problem);
    } catch (Throwable e) {
      return; // the logger itself may lack a descriptor; the other connections go on
    }
  }
}
