// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

/**
 * The sizes of a queue pair.
 *
 * @param sends work requests in its send queue ({@code max_send_wr})
 * @param receives work requests in its receive queue ({@code max_recv_wr}); 0 with a shared receive
 *     queue
 * @param inline maximum inline bytes of a work request ({@code max_inline_data})
 * @param pieces scatter/gather elements of a send request ({@code max_send_sge}); a receive has one
 */
public record QueuePairSizes(int sends, int receives, int inline, int pieces) {

  /**
   * Creates the sizes of a queue pair whose send requests have one scatter/gather element each.
   *
   * @param sends work requests in its send queue
   * @param receives work requests in its receive queue; 0 with a shared receive queue
   * @param inline maximum inline bytes of a work request
   */
  public QueuePairSizes(int sends, int receives, int inline) {
    this(sends, receives, inline, 1);
  }
}
