// SPDX-License-Identifier: Apache-2.0

/**
 * The performance model: the cost of a message at each stage of its path, the resulting latency and
 * bandwidth, and the fit of the costs. docs/model.md describes its origin.
 */
@NullMarked
package dev.ferrule.lab.model;

import org.jspecify.annotations.NullMarked;
