// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.cm;

import dev.ferrule.bindings.rdmacm.rdma_conn_param;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * What a connection is to be like, for {@code rdma_connect(3)} and {@code rdma_accept(3)}.
 *
 * @param privateData what to tell the peer: at most 56 bytes to connect, and 196 to accept
 * @param readsAsTarget RDMA READs of the peer to answer at a time, up to what the device can; or
 *     {@link #ALL_READS}
 * @param readsAsInitiator own RDMA READs outstanding, up to what the device can; or ALL_READS
 * @param retries how often a message that is not acknowledged is repeated, 0 to 7; only for
 *     connecting
 * @param rnrRetries how often the peer is to repeat a message for which there was no receive, 0 to
 *     6; 7 is for ever
 */
public record ConnectionParameters(
    byte[] privateData, int readsAsTarget, int readsAsInitiator, int retries, int rnrRetries) {

  /** As many RDMA READs as the device can, and for accepting no more than the peer wants. */
  public static final int ALL_READS = 0xff;

  /** How much private data a connect request can carry, in bytes. */
  public static final int MAX_REQUEST_DATA = 56;

  /** How much private data an acceptance can carry, in bytes. */
  public static final int MAX_ACCEPT_DATA = 196;

  /** How much private data a rejection can carry, in bytes. */
  public static final int MAX_REJECT_DATA = 148;

  /**
   * Checks what C would cut without a word: there the length is a byte.
   *
   * @throws IllegalArgumentException if there is more private data than an acceptance can carry
   */
  public ConnectionParameters {
    if (privateData.length > MAX_ACCEPT_DATA) {
      throw new IllegalArgumentException(
          "private data of " + privateData.length + " bytes; at most " + MAX_ACCEPT_DATA + " fit");
    }
  }

  /** An {@code rdma_conn_param}. */
  MemorySegment encode(Arena arena) {
    MemorySegment parameters = rdma_conn_param.allocate(arena);
    MemorySegment data = arena.allocateFrom(ValueLayout.JAVA_BYTE, privateData);
    rdma_conn_param.private_data(parameters, data);
    rdma_conn_param.private_data_len(parameters, (byte) privateData.length);
    rdma_conn_param.responder_resources(parameters, (byte) readsAsTarget);
    rdma_conn_param.initiator_depth(parameters, (byte) readsAsInitiator);
    rdma_conn_param.retry_count(parameters, (byte) retries);
    rdma_conn_param.rnr_retry_count(parameters, (byte) rnrRetries);
    return parameters;
  }
}
