// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.bench;

import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The server's reports of one-way measurements, kept until their clients request them. */
final class OneWayReports {

  /** The number of measurements whose reports are kept. */
  private static final int MAX_KEPT = 64;

  /** How long a client's request waits until the server has noticed the end of its measurement. */
  private static final long WAIT_SECONDS = 20;

  private final Map<Long, CompletableFuture<List<OneWayReport>>> all =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(
            Map.Entry<Long, CompletableFuture<List<OneWayReport>>> eldest) {
          return size() > MAX_KEPT;
        }
      };

  /**
   * Begins a measurement, whose client may request reports from then on. Returns a future, which
   * the caller completes at the end of the measurement.
   */
  synchronized CompletableFuture<List<OneWayReport>> begin(long measurement) {
    CompletableFuture<List<OneWayReport>> reports = new CompletableFuture<>();
    all.put(measurement, reports);
    return reports;
  }

  /** Waits for a report and returns it; throws if it does not exist. */
  OneWayReport get(OneWayRequest request) {
    CompletableFuture<List<OneWayReport>> reports;
    synchronized (this) {
      reports = all.get(request.measurement());
    }
    if (reports != null) {
      try {
        List<OneWayReport> done = reports.get(WAIT_SECONDS, TimeUnit.SECONDS);
        if (request.report() >= 0 && request.report() < done.size()) {
          return done.get(request.report());
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (ExecutionException | TimeoutException e) {
        throw new ToolException(
            ExitCode.CONNECTION_LOST,
            "a client requested the report of a round that failed or has not ended",
            e);
      }
    }
    throw new ToolException(
        ExitCode.CONNECTION_LOST, "a client requested the report of an unknown round");
  }
}
