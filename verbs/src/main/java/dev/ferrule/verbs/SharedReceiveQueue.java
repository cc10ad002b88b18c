// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

/**
 * A shared receive queue ({@code ibv_srq}): several queue pairs consume its receives.
 *
 * <p><b>Threads:</b> one thread at a time posts.
 */
public final class SharedReceiveQueue implements ReceiveWorkQueue, AutoCloseable {

  private final VerbsContext context;
  private final long address;

  SharedReceiveQueue(VerbsContext context, long address) {
    this.context = context;
    this.address = address;
  }

  /** {@return the address of the C object, as in {@link AsyncEvent#element()}} */
  public long address() {
    return address;
  }

  @Override
  public int post(ReceiveChain chain, int first, int count) {
    int result =
        context
            .calls()
            .postSrqRecv(context.postSrqRecv(), address, chain.cut(first, count), chain.bad());
    chain.join(first, count);
    return result;
  }

  @Override
  public void close() {
    VerbsException.check("ibv_destroy_srq", "", context.calls().destroySrq(address));
  }
}
