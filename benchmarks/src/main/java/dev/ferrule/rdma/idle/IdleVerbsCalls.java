// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.idle;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.libc.LibC;
import dev.ferrule.verbs.calls.NativeVerbsCalls;
import dev.ferrule.verbs.calls.VerbsCalls;
import dev.ferrule.verbs.libibverbs.ibv_comp_channel;
import dev.ferrule.verbs.libibverbs.ibv_device_attr;
import dev.ferrule.verbs.libibverbs.ibv_mr;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Creates the objects of an idle device, and posts and polls as the production code does. */
final class IdleVerbsCalls implements VerbsCalls {

  private static final int LIMIT = 1 << 14;

  private final VerbsCalls system = new NativeVerbsCalls();
  private final Arena arena = Arena.ofAuto();
  private final MemorySegment region = ibv_mr.allocate(arena);
  private final MemorySegment channel = ibv_comp_channel.allocate(arena);
  private final IdleDeviceLibrary device;

  IdleVerbsCalls(IdleDeviceLibrary device) {
    this.device = device;
    ibv_comp_channel.fd(channel, LibC.eventfd(0, LibC.EFD_CLOEXEC() | LibC.EFD_NONBLOCK()));
  }

  private static UnsupportedOperationException unused() {
    return new UnsupportedOperationException("not needed by a connection");
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
  public String getDeviceName(long address) {
    throw unused();
  }

  @Override
  public long openDevice(long address) {
    throw unused();
  }

  @Override
  public int closeDevice(long context) {
    throw unused();
  }

  @Override
  public int queryDevice(long context, MemorySegment attributes) {
    ibv_device_attr.max_qp_wr(attributes, LIMIT);
    ibv_device_attr.max_cqe(attributes, LIMIT);
    return 0;
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
    return 1;
  }

  @Override
  public int deallocPd(long protectionDomain) {
    return 0;
  }

  @Override
  public long regMr(long protectionDomain, long address, long length, int access) {
    return region.address();
  }

  @Override
  public long regMrIova(
      long protectionDomain, long address, long length, long deviceAddress, int access) {
    return region.address();
  }

  @Override
  public int deregMr(long memoryRegion) {
    return 0;
  }

  @Override
  public long createCompChannel(long context) {
    return channel.address();
  }

  @Override
  public int destroyCompChannel(long address) {
    return 0;
  }

  @Override
  public int getCqEvent(long address, MemorySegment queue, MemorySegment context) {
    return -Errno.EAGAIN;
  }

  @Override
  public void ackCqEvents(long queue, int count) {}

  @Override
  public long createCq(long context, int entries, long queueContext, long address, int vector) {
    return device.createCompletionQueue();
  }

  @Override
  public int destroyCq(long queue) {
    return 0;
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
    return 0;
  }

  @Override
  public int getAsyncEvent(long context, MemorySegment event) {
    return -Errno.EAGAIN;
  }

  @Override
  public void ackAsyncEvent(MemorySegment event) {}

  @Override
  public int postSend(MemorySegment function, long queuePair, long request, long bad) {
    return system.postSend(function, queuePair, request, bad);
  }

  @Override
  public int postRecv(MemorySegment function, long queuePair, long request, long bad) {
    return system.postRecv(function, queuePair, request, bad);
  }

  @Override
  public int postSrqRecv(MemorySegment function, long queue, long request, long bad) {
    throw unused();
  }

  @Override
  public int pollCq(MemorySegment function, long queue, int count, long completions) {
    return system.pollCq(function, queue, count, completions);
  }

  @Override
  public int reqNotifyCq(MemorySegment function, long queue, int solicitedOnly) {
    return system.reqNotifyCq(function, queue, solicitedOnly);
  }
}
