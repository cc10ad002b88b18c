// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.cm;

import dev.ferrule.verbs.librdmacm.rdma_conn_param;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The parameters of a connection, for {@code rdma_connect(3)} and {@code rdma_accept(3)}.
 *
 * @param privateData the private data for the peer: at most 56 bytes to connect, and 196 to accept
 * @param readsAsTarget the maximum number of outstanding RDMA READs and atomic operations of the
 *     peer ({@code responder_resources}), up to the device's limit; or {@link #ALL_READS}
 * @param readsAsInitiator the maximum number of outstanding RDMA READs and atomic operations of
 *     this side ({@code initiator_depth}), up to the device's limit; or ALL_READS
 * @param retries the number of retransmissions of an unacknowledged message ({@code retry_count}),
 *     0 to 7; only to connect
 * @param rnrRetries how often the peer retries a message after an RNR NAK ({@code
 *     rnr_retry_count}), 0 to 6; 7 for no limit
 */
public record ConnectionParameters(
    byte[] privateData, int readsAsTarget, int readsAsInitiator, int retries, int rnrRetries) {

  /**
   * The device's limit of RDMA READs; when accepting, at most the number that the peer requests.
   */
  public static final int ALL_READS = 0xff;

  /** The maximum private data of a connect request, in bytes. */
  public static final int MAX_REQUEST_DATA = 56;

  /** The maximum private data of an acceptance, in bytes. */
  public static final int MAX_ACCEPT_DATA = 196;

  /** The maximum private data of a rejection, in bytes. */
  public static final int MAX_REJECT_DATA = 148;

  /**
   * Checks the length of the private data, because C would truncate the length to one byte.
   *
   * @throws IllegalArgumentException if the private data exceeds {@link #MAX_ACCEPT_DATA}
   */
  public ConnectionParameters {
    if (privateData.length > MAX_ACCEPT_DATA) {
      throw new IllegalArgumentException(
          "private data too long: "
              + privateData.length
              + " bytes exceed the limit of "
              + MAX_ACCEPT_DATA
              + " bytes");
    }
  }

  /** Returns an {@code rdma_conn_param}. */
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
