// SPDX-License-Identifier: Apache-2.0

/** Compares Ferrule with other messaging libraries and transports, in one interleaved run. */
package dev.ferrule.lab.compare;
