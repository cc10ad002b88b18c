// SPDX-License-Identifier: Apache-2.0

/**
 * One-way latency and rate of one way of carrying messages, measured on demand, round by round. The
 * ways of this JVM are measured by the same loops, each in two processes of its own, so that the
 * compiler sees one of them at a time; programs such as {@code ucx_perftest} measure themselves.
 */
package dev.ferrule.peers.match;
