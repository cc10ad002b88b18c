// SPDX-License-Identifier: Apache-2.0

/**
 * The performance model: what a message costs at each stage of its way, what follows from that for
 * latency and bandwidth, and how the costs are found. docs/model.md tells where it comes from.
 */
package dev.ferrule.tools.model;
