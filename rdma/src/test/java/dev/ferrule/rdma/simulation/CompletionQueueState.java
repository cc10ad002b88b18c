// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import dev.ferrule.verbs.AsyncEvent;
import dev.ferrule.verbs.libibverbs.ibv_wc;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * A completion queue. It has exactly the requested number of entries; a further completion is an
 * overflow. A request for an event causes one event, when the next completion is added. Completions
 * that are already in the queue, and later ones, cause none. A work request occupies its queue
 * until its completion, or that of a later one, is polled.
 */
final class CompletionQueueState extends FabricObject {

  /**
   * A completion. If the request has failed, only the id, the status and the queue pair are valid.
   */
  record Completion(
      QueuePairState queuePair,
      long id,
      int status,
      int opcode,
      int length,
      @Nullable Integer immediate,
      boolean solicited,
      Runnable polled) {}

  private enum Request {
    NONE,
    SOLICITED,
    ANY
  }

  private static final int WITH_IMMEDIATE = 2;
  private static final byte GARBAGE = (byte) 0xee;

  final ContextState context;
  final @Nullable CompletionChannelState channel;
  final long key;
  private final int capacity;
  private final ArrayDeque<Completion> completions = new ArrayDeque<>();
  private volatile boolean empty = true;
  private Request request = Request.NONE;
  private int overflows;

  CompletionQueueState(
      MemorySegment structure,
      ContextState context,
      @Nullable CompletionChannelState channel,
      int capacity,
      long key) {
    super(structure);
    this.context = context;
    this.channel = channel;
    this.capacity = capacity;
    this.key = key;
  }

  /** Returns whether a poll would find nothing. By any thread. */
  boolean isEmpty() {
    return empty;
  }

  int overflows() {
    return overflows;
  }

  void add(Completion completion) {
    if (completions.size() == capacity) {
      overflows++;
      context.report(AsyncEvent.Type.COMPLETION_QUEUE_ERROR, this);
      completion.queuePair.toError(AsyncEvent.Type.QUEUE_PAIR_FATAL);
      return;
    }
    completions.add(completion);
    empty = false;
    boolean requested =
        switch (request) {
          case NONE -> false;
          case SOLICITED -> completion.solicited || completion.status != 0;
          case ANY -> true;
        };
    if (requested && channel != null) {
      request = Request.NONE;
      channel.events.add(this);
    }
  }

  /**
   * Requests an event. A request for any completion remains valid if a request for solicited ones
   * follows.
   */
  void request(boolean solicitedOnly) {
    if (!solicitedOnly) {
      request = Request.ANY;
    } else if (request == Request.NONE) {
      request = Request.SOLICITED;
    }
  }

  int poll(int limit, long address) {
    int count = 0;
    while (count < limit && !completions.isEmpty()) {
      Completion next = completions.remove();
      write(next, address + count * ibv_wc.sizeof());
      next.polled.run();
      count++;
    }
    empty = completions.isEmpty();
    return count;
  }

  private static void write(Completion completion, long address) {
    MemorySegment fields = MemorySegment.ofAddress(address).reinterpret(ibv_wc.sizeof());
    fields.fill(GARBAGE);
    ibv_wc.wr_id(fields, completion.id);
    ibv_wc.status(fields, completion.status);
    ibv_wc.qp_num(fields, completion.queuePair.number);
    ibv_wc.vendor_err(fields, 0);
    if (completion.status == 0) {
      ibv_wc.opcode(fields, completion.opcode);
      ibv_wc.byte_len(fields, completion.length);
      ibv_wc.wc_flags(fields, completion.immediate == null ? 0 : WITH_IMMEDIATE);
      if (completion.immediate != null) {
        ibv_wc.imm_data(fields, completion.immediate);
      }
    }
  }

  /** Removes the completions of a destroyed queue pair, as many drivers do. */
  void drop(QueuePairState queuePair) {
    completions.removeIf(completion -> {
      boolean drop = completion.queuePair == queuePair;
      if (drop) {
        completion.polled.run();
      }
      return drop;
    });
    empty = completions.isEmpty();
  }
}
