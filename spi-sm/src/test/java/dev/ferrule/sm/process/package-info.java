// SPDX-License-Identifier: Apache-2.0
/** Tests with a second process, which is killed, stopped or used as a peer. */
@NullMarked
package dev.ferrule.sm.process;

import org.jspecify.annotations.NullMarked;
