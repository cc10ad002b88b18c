// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.verbs;

import dev.ferrule.verbs.libibverbs.ibv_device_attr;
import java.lang.foreign.MemorySegment;

/**
 * The limits of a device, from {@code ibv_query_device(3)}.
 *
 * @param firmware the firmware's version; may be empty
 * @param vendorId the vendor's id
 * @param vendorPartId the vendor's part id
 * @param maxMemoryRegionSize bytes of a memory region; Long.MAX_VALUE without limit
 * @param maxQueuePairs queue pairs
 * @param maxWorkRequests work requests in a send or receive queue ({@code max_qp_wr})
 * @param maxScatterGatherEntries scatter/gather entries of a work request ({@code max_sge})
 * @param maxCompletionQueues completion queues
 * @param maxCompletions entries of a completion queue
 * @param maxMemoryRegions memory regions
 * @param maxSharedReceiveQueues shared receive queues; 0 if unsupported
 * @param maxSharedReceives work requests in a shared receive queue
 * @param atomics the scope in which the device's atomic operations are atomic
 * @param maxReadsAsTarget outstanding RDMA READs and atomic operations of the peer per queue pair
 *     ({@code max_qp_rd_atom})
 * @param maxReadsAsInitiator outstanding RDMA READs and atomic operations of this side per queue
 *     pair ({@code max_qp_init_rd_atom})
 * @param ports physical ports, numbered from 1
 */
public record DeviceAttributes(
    String firmware,
    int vendorId,
    int vendorPartId,
    long maxMemoryRegionSize,
    int maxQueuePairs,
    int maxWorkRequests,
    int maxScatterGatherEntries,
    int maxCompletionQueues,
    int maxCompletions,
    int maxMemoryRegions,
    int maxSharedReceiveQueues,
    int maxSharedReceives,
    AtomicCapability atomics,
    int maxReadsAsTarget,
    int maxReadsAsInitiator,
    int ports) {

  static DeviceAttributes read(MemorySegment attributes) {
    return new DeviceAttributes(
        ibv_device_attr.fw_ver(attributes).getString(0),
        ibv_device_attr.vendor_id(attributes),
        ibv_device_attr.vendor_part_id(attributes),
        atMostMaxLong(ibv_device_attr.max_mr_size(attributes)),
        ibv_device_attr.max_qp(attributes),
        ibv_device_attr.max_qp_wr(attributes),
        ibv_device_attr.max_sge(attributes),
        ibv_device_attr.max_cq(attributes),
        ibv_device_attr.max_cqe(attributes),
        ibv_device_attr.max_mr(attributes),
        ibv_device_attr.max_srq(attributes),
        ibv_device_attr.max_srq_wr(attributes),
        AtomicCapability.of(ibv_device_attr.atomic_cap(attributes)),
        ibv_device_attr.max_qp_rd_atom(attributes),
        ibv_device_attr.max_qp_init_rd_atom(attributes),
        ibv_device_attr.phys_port_cnt(attributes) & 0xff);
  }

  /** Converts an unsigned number; soft-RoCE reports the largest one. */
  private static long atMostMaxLong(long unsigned) {
    return unsigned < 0 ? Long.MAX_VALUE : unsigned;
  }
}
