// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs.fake;

import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.queue.Link;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Remembers what a connection was told. */
public class RecordingLink implements Link {

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
  public void onFailure(CompletionStatus status, int vendorError) {
    told.add(status + " " + vendorError);
  }

  @Override
  public void onViolation(String reason) {
    told.add(reason);
  }

  @Override
  public void onPostFailure(String function, int errno) {
    told.add(function + " " + errno);
  }
}
