// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.fake;

import dev.ferrule.verbs.calls.VerbsCalls;
import java.lang.foreign.MemorySegment;

/**
 * Calls of libibverbs that fail, except those that a subclass overrides. Unlike those of a proxy,
 * its methods can be called in a Lincheck test.
 */
public abstract class UnusedVerbsCalls implements VerbsCalls {

  private static UnsupportedOperationException unused() {
    return new UnsupportedOperationException("not needed by the test");
  }

  @Override
  public long getDeviceList(MemorySegment count) {
    throw unused();
  }

  @Override
  public void freeDeviceList(long list) {
    throw unused();
  }

  @Override
  public String getDeviceName(long device) {
    throw unused();
  }

  @Override
  public long openDevice(long device) {
    throw unused();
  }

  @Override
  public int closeDevice(long context) {
    throw unused();
  }

  @Override
  public int queryDevice(long context, MemorySegment attributes) {
    throw unused();
  }

  @Override
  public int queryPort(long context, int port, MemorySegment attributes) {
    throw unused();
  }

  @Override
  public int queryGid(long context, int port, int index, MemorySegment gid) {
    throw unused();
  }

  @Override
  public long allocPd(long context) {
    throw unused();
  }

  @Override
  public int deallocPd(long protectionDomain) {
    throw unused();
  }

  @Override
  public long regMr(long protectionDomain, long address, long length, int access) {
    throw unused();
  }

  @Override
  public long regMrIova(
      long protectionDomain, long address, long length, long deviceAddress, int access) {
    throw unused();
  }

  @Override
  public int deregMr(long memoryRegion) {
    throw unused();
  }

  @Override
  public long createCompChannel(long context) {
    throw unused();
  }

  @Override
  public int destroyCompChannel(long channel) {
    throw unused();
  }

  @Override
  public int getCqEvent(long channel, MemorySegment queue, MemorySegment context) {
    throw unused();
  }

  @Override
  public void ackCqEvents(long queue, int count) {
    throw unused();
  }

  @Override
  public long createCq(long context, int entries, long queueContext, long channel, int vector) {
    throw unused();
  }

  @Override
  public int destroyCq(long queue) {
    throw unused();
  }

  @Override
  public long createSrq(long protectionDomain, MemorySegment attributes) {
    throw unused();
  }

  @Override
  public int destroySrq(long queue) {
    throw unused();
  }

  @Override
  public int modifyQp(long queuePair, MemorySegment attributes, int mask) {
    throw unused();
  }

  @Override
  public int getAsyncEvent(long context, MemorySegment event) {
    throw unused();
  }

  @Override
  public void ackAsyncEvent(MemorySegment event) {
    throw unused();
  }

  @Override
  public int postSend(MemorySegment function, long queuePair, long request, long bad) {
    throw unused();
  }

  @Override
  public int postRecv(MemorySegment function, long queuePair, long request, long bad) {
    throw unused();
  }

  @Override
  public int postSrqRecv(MemorySegment function, long queue, long request, long bad) {
    throw unused();
  }

  @Override
  public int pollCq(MemorySegment function, long queue, int count, long completions) {
    throw unused();
  }

  @Override
  public int reqNotifyCq(MemorySegment function, long queue, int solicitedOnly) {
    throw unused();
  }
}
