// SPDX-License-Identifier: Apache-2.0
/** Random schedules of two programs, with faults, against a model of what each may observe. */
@org.jspecify.annotations.NullMarked
package dev.ferrule.integration.faults;
