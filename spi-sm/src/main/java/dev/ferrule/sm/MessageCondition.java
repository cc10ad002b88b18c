// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.sm.ring.ReceiverSleep;
import dev.ferrule.support.Waiter;
import java.lang.ref.Reference;

/**
 * The condition for which a thread in {@link SmReceiver#receive} waits. A platform thread sleeps on
 * its flag in the ring, where the peer wakes it by one system call; a virtual thread parks.
 */
final class MessageCondition implements Waiter.Condition {

  private final SmReceiver receiver; // whose reachability keeps the flag mapped
  private final ReceiverSleep sleep;

  MessageCondition(SmReceiver receiver, ReceiverSleep sleep) {
    this.receiver = receiver;
    this.sleep = sleep;
  }

  @Override
  public boolean isReady() {
    return receiver.isReady();
  }

  @Override
  public void arm() {
    sleep.arm(!Thread.currentThread().isVirtual());
    Reference.reachabilityFence(receiver);
  }

  @Override
  public boolean isSure() {
    return sleep.isSure();
  }

  @Override
  public void onDelayPassed() {
    sleep.onDelayPassed();
  }

  @Override
  public void block(long nanos) {
    if (Thread.currentThread().isVirtual()) {
      Waiter.Condition.super.block(nanos);
    } else {
      sleep.await(nanos);
      Reference.reachabilityFence(receiver);
    }
  }

  @Override
  public void unblock(Thread sleeper) {
    if (sleeper.isVirtual()) {
      Waiter.Condition.super.unblock(sleeper);
    } else {
      sleep.end();
      Reference.reachabilityFence(receiver);
    }
  }

  @Override
  public boolean isArmed() {
    boolean result = sleep.isArmed();
    Reference.reachabilityFence(receiver);
    return result;
  }

  @Override
  public void disarm() {
    sleep.disarm();
    Reference.reachabilityFence(receiver);
  }

  @Override
  public RuntimeException interrupted() {
    return receiver.connection().interrupted("receive");
  }
}
