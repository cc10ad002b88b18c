// SPDX-License-Identifier: Apache-2.0

/** The contract of every provider, as JUnit tests. */
module dev.ferrule.contract {
  requires transitive dev.ferrule;
  requires transitive static org.jspecify;
  requires transitive org.assertj.core;
  requires transitive org.junit.jupiter.params;
  requires transitive java.logging;
  requires jdk.jfr;
  requires jdk.management;

  exports dev.ferrule.contract;
}
