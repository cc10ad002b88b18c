// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.fake;

import dev.ferrule.rdma.queue.QueueCallbacks;
import dev.ferrule.verbs.CompletionStatus;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Records the callbacks to a connection. */
public class RecordingCallbacks implements QueueCallbacks {

  public final AtomicInteger progress = new AtomicInteger();
  public final List<String> told = new CopyOnWriteArrayList<>();

  @Override
  public void onProgress() {
    progress.incrementAndGet();
  }

  @Override
  public void onGoodbye() {
    told.add("goodbye");
  }

  @Override
  public void onSendFailure(CompletionStatus status, int vendorError) {
    told.add(status + " " + vendorError);
  }

  @Override
  public void onAccessFailure(CompletionStatus status, int vendorError) {
    told.add("access: " + status + " " + vendorError);
  }

  @Override
  public void onReceiveFailure(CompletionStatus status, int vendorError) {
    told.add("receive: " + status + " " + vendorError);
  }

  @Override
  public void onViolation(String reason) {
    told.add(reason);
  }

  @Override
  public void onCallFailure(String function, int errno) {
    told.add(function + " " + errno);
  }
}
