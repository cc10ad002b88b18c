// SPDX-License-Identifier: Apache-2.0

/** What several commands need: exit codes, child processes, clean ends, processors, terminals. */
package dev.ferrule.tools.support;
