// SPDX-License-Identifier: Apache-2.0
/** Random schedules of two programs, with faults, against a model of what each of them may see. */
@org.jspecify.annotations.NullMarked
package dev.ferrule.integration.faults;
