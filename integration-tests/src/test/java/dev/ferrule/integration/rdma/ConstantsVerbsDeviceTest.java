// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.verbs.AccessFlags;
import dev.ferrule.verbs.AsyncEvent;
import dev.ferrule.verbs.CompletionQueue;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.PortAttributes;
import dev.ferrule.verbs.QueuePair;
import dev.ferrule.verbs.SendChain;
import dev.ferrule.verbs.SendOperation;
import dev.ferrule.verbs.cm.CmEvent;
import dev.ferrule.verbs.cm.CmId;
import dev.ferrule.verbs.libibverbs.Verbs;
import dev.ferrule.verbs.librdmacm.RdmaCm;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The verbs layer repeats some constants of C, so that tests can use it without the libraries. Here
 * they are compared with those that jextract found in the headers.
 */
@RdmaTest
class ConstantsVerbsDeviceTest {

  @Test
  void everyCompletionStatusHasTheNumberOfC() {
    Map<CompletionStatus, Integer> expected =
        Map.ofEntries(
            Map.entry(CompletionStatus.SUCCESS, Verbs.IBV_WC_SUCCESS()),
            Map.entry(CompletionStatus.LOCAL_LENGTH_ERROR, Verbs.IBV_WC_LOC_LEN_ERR()),
            Map.entry(
                CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR, Verbs.IBV_WC_LOC_QP_OP_ERR()),
            Map.entry(CompletionStatus.LOCAL_EEC_OPERATION_ERROR, Verbs.IBV_WC_LOC_EEC_OP_ERR()),
            Map.entry(CompletionStatus.LOCAL_PROTECTION_ERROR, Verbs.IBV_WC_LOC_PROT_ERR()),
            Map.entry(CompletionStatus.FLUSHED, Verbs.IBV_WC_WR_FLUSH_ERR()),
            Map.entry(CompletionStatus.MEMORY_WINDOW_BIND_ERROR, Verbs.IBV_WC_MW_BIND_ERR()),
            Map.entry(CompletionStatus.BAD_RESPONSE_ERROR, Verbs.IBV_WC_BAD_RESP_ERR()),
            Map.entry(CompletionStatus.LOCAL_ACCESS_ERROR, Verbs.IBV_WC_LOC_ACCESS_ERR()),
            Map.entry(
                CompletionStatus.REMOTE_INVALID_REQUEST_ERROR, Verbs.IBV_WC_REM_INV_REQ_ERR()),
            Map.entry(CompletionStatus.REMOTE_ACCESS_ERROR, Verbs.IBV_WC_REM_ACCESS_ERR()),
            Map.entry(CompletionStatus.REMOTE_OPERATION_ERROR, Verbs.IBV_WC_REM_OP_ERR()),
            Map.entry(CompletionStatus.RETRY_EXCEEDED, Verbs.IBV_WC_RETRY_EXC_ERR()),
            Map.entry(CompletionStatus.RNR_RETRY_EXCEEDED, Verbs.IBV_WC_RNR_RETRY_EXC_ERR()),
            Map.entry(CompletionStatus.LOCAL_RDD_VIOLATION_ERROR, Verbs.IBV_WC_LOC_RDD_VIOL_ERR()),
            Map.entry(
                CompletionStatus.REMOTE_INVALID_RD_REQUEST, Verbs.IBV_WC_REM_INV_RD_REQ_ERR()),
            Map.entry(CompletionStatus.REMOTE_ABORTED, Verbs.IBV_WC_REM_ABORT_ERR()),
            Map.entry(CompletionStatus.INVALID_EEC_NUMBER, Verbs.IBV_WC_INV_EECN_ERR()),
            Map.entry(CompletionStatus.INVALID_EEC_STATE, Verbs.IBV_WC_INV_EEC_STATE_ERR()),
            Map.entry(CompletionStatus.FATAL, Verbs.IBV_WC_FATAL_ERR()),
            Map.entry(CompletionStatus.RESPONSE_TIMEOUT, Verbs.IBV_WC_RESP_TIMEOUT_ERR()),
            Map.entry(CompletionStatus.GENERAL_ERROR, Verbs.IBV_WC_GENERAL_ERR()));
    assertThat(expected).containsOnlyKeys(CompletionStatus.values());
    expected.forEach((status, code) -> assertThat(CompletionStatus.of(code)).isEqualTo(status));
  }

  @Test
  void everyEventOfADeviceHasTheNumberOfC() {
    Map<AsyncEvent.Type, Integer> expected =
        Map.ofEntries(
            Map.entry(AsyncEvent.Type.COMPLETION_QUEUE_ERROR, Verbs.IBV_EVENT_CQ_ERR()),
            Map.entry(AsyncEvent.Type.QUEUE_PAIR_FATAL, Verbs.IBV_EVENT_QP_FATAL()),
            Map.entry(AsyncEvent.Type.QUEUE_PAIR_REQUEST_ERROR, Verbs.IBV_EVENT_QP_REQ_ERR()),
            Map.entry(AsyncEvent.Type.QUEUE_PAIR_ACCESS_ERROR, Verbs.IBV_EVENT_QP_ACCESS_ERR()),
            Map.entry(AsyncEvent.Type.COMMUNICATION_ESTABLISHED, Verbs.IBV_EVENT_COMM_EST()),
            Map.entry(AsyncEvent.Type.SEND_QUEUE_DRAINED, Verbs.IBV_EVENT_SQ_DRAINED()),
            Map.entry(AsyncEvent.Type.PATH_MIGRATED, Verbs.IBV_EVENT_PATH_MIG()),
            Map.entry(AsyncEvent.Type.PATH_MIGRATION_ERROR, Verbs.IBV_EVENT_PATH_MIG_ERR()),
            Map.entry(AsyncEvent.Type.DEVICE_FATAL, Verbs.IBV_EVENT_DEVICE_FATAL()),
            Map.entry(AsyncEvent.Type.PORT_ACTIVE, Verbs.IBV_EVENT_PORT_ACTIVE()),
            Map.entry(AsyncEvent.Type.PORT_ERROR, Verbs.IBV_EVENT_PORT_ERR()),
            Map.entry(AsyncEvent.Type.LID_CHANGE, Verbs.IBV_EVENT_LID_CHANGE()),
            Map.entry(AsyncEvent.Type.PARTITION_KEY_CHANGE, Verbs.IBV_EVENT_PKEY_CHANGE()),
            Map.entry(AsyncEvent.Type.SUBNET_MANAGER_CHANGE, Verbs.IBV_EVENT_SM_CHANGE()),
            Map.entry(AsyncEvent.Type.SHARED_RECEIVE_QUEUE_ERROR, Verbs.IBV_EVENT_SRQ_ERR()),
            Map.entry(
                AsyncEvent.Type.SHARED_RECEIVE_QUEUE_LIMIT, Verbs.IBV_EVENT_SRQ_LIMIT_REACHED()),
            Map.entry(
                AsyncEvent.Type.LAST_WORK_REQUEST_REACHED, Verbs.IBV_EVENT_QP_LAST_WQE_REACHED()),
            Map.entry(AsyncEvent.Type.CLIENT_REREGISTER, Verbs.IBV_EVENT_CLIENT_REREGISTER()),
            Map.entry(AsyncEvent.Type.GID_CHANGE, Verbs.IBV_EVENT_GID_CHANGE()),
            Map.entry(AsyncEvent.Type.WORK_QUEUE_FATAL, Verbs.IBV_EVENT_WQ_FATAL()));
    assertOrdinals(AsyncEvent.Type.class, expected, AsyncEvent.Type.UNKNOWN);
  }

  @Test
  void everyEventOfTheConnectionManagerHasTheNumberOfC() {
    Map<CmEvent.Type, Integer> expected =
        Map.ofEntries(
            Map.entry(CmEvent.Type.ADDRESS_RESOLVED, RdmaCm.RDMA_CM_EVENT_ADDR_RESOLVED()),
            Map.entry(CmEvent.Type.ADDRESS_ERROR, RdmaCm.RDMA_CM_EVENT_ADDR_ERROR()),
            Map.entry(CmEvent.Type.ROUTE_RESOLVED, RdmaCm.RDMA_CM_EVENT_ROUTE_RESOLVED()),
            Map.entry(CmEvent.Type.ROUTE_ERROR, RdmaCm.RDMA_CM_EVENT_ROUTE_ERROR()),
            Map.entry(CmEvent.Type.CONNECT_REQUEST, RdmaCm.RDMA_CM_EVENT_CONNECT_REQUEST()),
            Map.entry(CmEvent.Type.CONNECT_RESPONSE, RdmaCm.RDMA_CM_EVENT_CONNECT_RESPONSE()),
            Map.entry(CmEvent.Type.CONNECT_ERROR, RdmaCm.RDMA_CM_EVENT_CONNECT_ERROR()),
            Map.entry(CmEvent.Type.UNREACHABLE, RdmaCm.RDMA_CM_EVENT_UNREACHABLE()),
            Map.entry(CmEvent.Type.REJECTED, RdmaCm.RDMA_CM_EVENT_REJECTED()),
            Map.entry(CmEvent.Type.ESTABLISHED, RdmaCm.RDMA_CM_EVENT_ESTABLISHED()),
            Map.entry(CmEvent.Type.DISCONNECTED, RdmaCm.RDMA_CM_EVENT_DISCONNECTED()),
            Map.entry(CmEvent.Type.DEVICE_REMOVAL, RdmaCm.RDMA_CM_EVENT_DEVICE_REMOVAL()),
            Map.entry(CmEvent.Type.MULTICAST_JOIN, RdmaCm.RDMA_CM_EVENT_MULTICAST_JOIN()),
            Map.entry(CmEvent.Type.MULTICAST_ERROR, RdmaCm.RDMA_CM_EVENT_MULTICAST_ERROR()),
            Map.entry(CmEvent.Type.ADDRESS_CHANGE, RdmaCm.RDMA_CM_EVENT_ADDR_CHANGE()),
            Map.entry(CmEvent.Type.TIMEWAIT_EXIT, RdmaCm.RDMA_CM_EVENT_TIMEWAIT_EXIT()));
    assertOrdinals(CmEvent.Type.class, expected, CmEvent.Type.UNKNOWN);
  }

  /** The enums are in C's order. Their last value, for unknown ones, does not exist in C. */
  private static <E extends Enum<E>> void assertOrdinals(
      Class<E> type, Map<E, Integer> expected, E unknown) {
    Map<E, Integer> ordinals = new EnumMap<>(type);
    for (E value : type.getEnumConstants()) {
      ordinals.put(value, value.ordinal());
    }
    assertThat(ordinals.remove(unknown)).isEqualTo(expected.size());
    assertThat(ordinals).isEqualTo(expected);
  }

  @Test
  void everySendOperationHasTheNumberOfC() throws ReflectiveOperationException {
    Map<SendOperation, Integer> expected =
        Map.of(
            SendOperation.RDMA_WRITE, Verbs.IBV_WR_RDMA_WRITE(),
            SendOperation.RDMA_WRITE_WITH_IMMEDIATE, Verbs.IBV_WR_RDMA_WRITE_WITH_IMM(),
            SendOperation.SEND, Verbs.IBV_WR_SEND(),
            SendOperation.SEND_WITH_IMMEDIATE, Verbs.IBV_WR_SEND_WITH_IMM(),
            SendOperation.RDMA_READ, Verbs.IBV_WR_RDMA_READ(),
            SendOperation.COMPARE_AND_SWAP, Verbs.IBV_WR_ATOMIC_CMP_AND_SWP(),
            SendOperation.FETCH_AND_ADD, Verbs.IBV_WR_ATOMIC_FETCH_AND_ADD());
    Method code = SendOperation.class.getDeclaredMethod("code");
    code.setAccessible(true);
    Map<SendOperation, Integer> actual = new EnumMap<>(SendOperation.class);
    for (SendOperation operation : SendOperation.values()) {
      actual.put(operation, (Integer) code.invoke(operation));
    }
    assertThat(actual).isEqualTo(expected);
  }

  @Test
  void everyFlagHasTheNumberOfC() {
    assertThat(SendChain.FENCE).isEqualTo(Verbs.IBV_SEND_FENCE());
    assertThat(SendChain.SIGNALED).isEqualTo(Verbs.IBV_SEND_SIGNALED());
    assertThat(SendChain.SOLICITED).isEqualTo(Verbs.IBV_SEND_SOLICITED());
    assertThat(SendChain.INLINE).isEqualTo(Verbs.IBV_SEND_INLINE());
    assertThat(AccessFlags.LOCAL_WRITE).isEqualTo(Verbs.IBV_ACCESS_LOCAL_WRITE());
    assertThat(AccessFlags.REMOTE_WRITE).isEqualTo(Verbs.IBV_ACCESS_REMOTE_WRITE());
    assertThat(AccessFlags.REMOTE_READ).isEqualTo(Verbs.IBV_ACCESS_REMOTE_READ());
    assertThat(AccessFlags.REMOTE_ATOMIC).isEqualTo(Verbs.IBV_ACCESS_REMOTE_ATOMIC());
  }

  @Test
  void everyPrivateConstantHasTheNumberOfC() throws ReflectiveOperationException {
    assertThat(constant(QueuePair.class, "TYPE_RC")).isEqualTo(Verbs.IBV_QPT_RC());
    assertThat(constant(QueuePair.class, "MASK_STATE")).isEqualTo(Verbs.IBV_QP_STATE());
    assertThat(constant(QueuePair.class, "MASK_MIN_RNR_TIMER"))
        .isEqualTo(Verbs.IBV_QP_MIN_RNR_TIMER());
    assertThat(constant(QueuePair.class, "STATE_ERROR")).isEqualTo(Verbs.IBV_QPS_ERR());
    assertThat(constant(CompletionQueue.class, "FLAG_WITH_IMMEDIATE"))
        .isEqualTo(Verbs.IBV_WC_WITH_IMM());
    assertThat(constant(CompletionQueue.class, "OPCODE_RECEIVE")).isEqualTo(Verbs.IBV_WC_RECV());
    assertThat(constant(PortAttributes.class, "PORT_ACTIVE")).isEqualTo(Verbs.IBV_PORT_ACTIVE());
    assertThat(constant(PortAttributes.class, "LINK_LAYER_ETHERNET"))
        .isEqualTo(Verbs.IBV_LINK_LAYER_ETHERNET());
    assertThat(constant(PortAttributes.class, "SMALLEST_MTU") << Verbs.IBV_MTU_256())
        .isEqualTo(256);
    assertThat(constant(PortAttributes.class, "SMALLEST_MTU") << Verbs.IBV_MTU_4096())
        .isEqualTo(4096);
    assertThat(constant(CmId.class, "QP_STATE_INIT")).isEqualTo(Verbs.IBV_QPS_INIT());
    assertThat(constant(CmId.class, "LEVEL_ID")).isEqualTo(RdmaCm.RDMA_OPTION_ID());
    assertThat(constant(CmId.class, "OPTION_REUSE_ADDRESS"))
        .isEqualTo(RdmaCm.RDMA_OPTION_ID_REUSEADDR());
    assertThat(constant(CmId.class, "OPTION_ACK_TIMEOUT"))
        .isEqualTo(RdmaCm.RDMA_OPTION_ID_ACK_TIMEOUT());
  }

  private static int constant(Class<?> owner, String name) throws ReflectiveOperationException {
    Field field = owner.getDeclaredField(name);
    field.setAccessible(true);
    return ((Number) field.get(null)).intValue();
  }
}
