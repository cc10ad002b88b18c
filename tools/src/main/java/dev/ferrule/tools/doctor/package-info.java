// SPDX-License-Identifier: Apache-2.0

/** What works on a machine, what does not, and what to do about it: one class for each concern. */
package dev.ferrule.tools.doctor;
