// SPDX-License-Identifier: Apache-2.0

/**
 * Publishes the counters of connections to Micrometer, whose jars are automatic modules with fixed
 * names.
 */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module dev.ferrule.micrometer {
  requires transitive dev.ferrule;
  requires transitive micrometer.core;
  requires transitive static org.jspecify;

  exports dev.ferrule.micrometer;
}
