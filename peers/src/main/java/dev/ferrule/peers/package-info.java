// SPDX-License-Identifier: Apache-2.0

/** Ferrule side by side with others who carry messages, in one interleaved run. */
package dev.ferrule.peers;
