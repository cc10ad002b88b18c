// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

/**
 * The parts of error messages that depend on the protocol and its options.
 *
 * @param stranger the message for a listener that sends no hello
 * @param receiverNotReady the advice if the peer had no receive posted (RNR)
 * @param queuesTooLarge the advice if a queue pair exceeds the limits of the device
 * @param commonQueueFull the advice if the completion queue of a listener has no entries left for
 *     another connection
 * @param allHeld the advice if the program holds all received messages for which there are buffers
 */
public record ProtocolTexts(
    String stranger,
    String receiverNotReady,
    String queuesTooLarge,
    String commonQueueFull,
    String allHeld) {}
