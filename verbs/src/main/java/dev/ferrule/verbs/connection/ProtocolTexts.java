// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.connection;

/**
 * What to tell a program, where that depends on a protocol and its options.
 *
 * @param stranger what listens there says no hello
 * @param receiverNotReady what to look at when the peer had no receive posted
 * @param queuesTooLarge what to change when a queue pair needs more than the device can do
 * @param commonQueueFull what to change when the completion queue of a listener has no room for one
 *     more connection
 * @param allHeld what to change when a program holds all messages that there is room for
 */
public record ProtocolTexts(
    String stranger,
    String receiverNotReady,
    String queuesTooLarge,
    String commonQueueFull,
    String allHeld) {}
