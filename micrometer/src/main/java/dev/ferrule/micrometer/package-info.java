// SPDX-License-Identifier: Apache-2.0
/** Publishes the counters of connections to a meter registry of Micrometer. */
@NullMarked
package dev.ferrule.micrometer;

import org.jspecify.annotations.NullMarked;
