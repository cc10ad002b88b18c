// SPDX-License-Identifier: Apache-2.0

/** The ways of carrying messages that are compared, behind one tiny interface. */
package dev.ferrule.peers.transport;
