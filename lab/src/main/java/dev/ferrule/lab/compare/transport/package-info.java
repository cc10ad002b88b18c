// SPDX-License-Identifier: Apache-2.0

/** The transports that are compared, behind one small interface. */
package dev.ferrule.lab.compare.transport;
