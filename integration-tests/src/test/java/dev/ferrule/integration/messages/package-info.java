// SPDX-License-Identifier: Apache-2.0
/** The messages of failures, as a user reads them. */
@org.jspecify.annotations.NullMarked
package dev.ferrule.integration.messages;
