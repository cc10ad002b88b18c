// SPDX-License-Identifier: Apache-2.0
#include "idle_device.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

enum { SLOTS = 1024, MASK = SLOTS - 1 }; // more than any queue has

enum { MESSAGE = 1, GRANT = 2, TYPE_SHIFT = 28, CONTROLS_SHIFT = 16 }; // docs/protocol-sendrecv.md

struct receive {
  uint64_t id;
  uint64_t address;
};

static struct {
  struct ibv_context context;
  struct ibv_qp pair;

  uint64_t completed[SLOTS]; // the ids of signaled sends
  uint64_t completions;
  uint64_t polled;

  struct receive posted[SLOTS];
  uint64_t receives;
  uint64_t received;

  uint32_t window;
  uint32_t burst;
  uint32_t length;
  uint32_t ring;
  uint64_t messages; // by the program under test
  uint64_t bytes;    // of the peer's ring
  uint64_t returned; // messages whose part of the window the peer has returned
  uint64_t controls; // control messages by the program under test
  uint64_t granted;  // messages that the peer may send
  uint64_t sent;     // messages of the peer
} device;

static uint64_t in_ring(uint32_t length) {
  return length == 0 ? 8 : (length + 7ul) & ~7ul;
}

static void taken(const struct ibv_send_wr *request) {
  uint32_t immediate = ntohl(request->imm_data);
  if (request->opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
    device.messages++;
    device.bytes += in_ring(immediate);
  } else if (request->opcode == IBV_WR_SEND_WITH_IMM) {
    device.granted += (uint16_t)(immediate - (uint32_t)device.granted);
    if (immediate >> TYPE_SHIFT == MESSAGE) {
      device.messages++;
    } else {
      device.controls++;
    }
  }
  if (request->send_flags & IBV_SEND_SIGNALED) {
    device.completed[device.completions++ & MASK] = request->wr_id;
  }
}

static int post_send(struct ibv_qp *pair, struct ibv_send_wr *first, struct ibv_send_wr **bad) {
  (void)pair;
  (void)bad;
  for (const struct ibv_send_wr *request = first; request != NULL; request = request->next) {
    taken(request);
  }
  return 0;
}

static int post_recv(struct ibv_qp *pair, struct ibv_recv_wr *first, struct ibv_recv_wr **bad) {
  (void)pair;
  (void)bad;
  for (const struct ibv_recv_wr *request = first; request != NULL; request = request->next) {
    device.posted[device.receives++ & MASK] = (struct receive){
        .id = request->wr_id, .address = request->num_sge == 0 ? 0 : request->sg_list->addr};
  }
  return 0;
}

static int poll_sends(int limit, struct ibv_wc *found) {
  int count = 0;
  while (count < limit && device.polled < device.completions) {
    found[count].wr_id = device.completed[device.polled++ & MASK];
    found[count].status = IBV_WC_SUCCESS;
    found[count].opcode = IBV_WC_SEND;
    found[count].qp_num = device.pair.qp_num;
    found[count].wc_flags = 0;
    count++;
  }
  return count;
}

static struct receive receive(struct ibv_wc *found, enum ibv_wc_opcode opcode, uint32_t length) {
  struct receive next = device.posted[device.received++ & MASK];
  found->wr_id = next.id;
  found->status = IBV_WC_SUCCESS;
  found->opcode = opcode;
  found->byte_len = length;
  found->qp_num = device.pair.qp_num;
  found->wc_flags = 0;
  return next;
}

static void set_immediate(struct ibv_wc *found, uint32_t immediate) {
  found->imm_data = htonl(immediate);
  found->wc_flags = IBV_WC_WITH_IMM;
}

// Returns the immediate data of a message of sendrecv, which returns all credits used so far.
static uint32_t grant(uint32_t type) {
  device.returned = device.messages;
  return type << TYPE_SHIFT | (uint32_t)(device.controls & 0xff) << CONTROLS_SHIFT
      | (uint32_t)((device.messages + device.window) & 0xffff);
}

// Adds the message by which the peer returns the window.
static void return_window(struct ibv_wc *found) {
  if (!device.ring) {
    receive(found, IBV_WC_RECV, 0);
    set_immediate(found, grant(GRANT));
    return;
  }
  struct receive into = receive(found, IBV_WC_RECV, 24);
  const uint32_t acknowledgment = 1; // docs/protocol-magicring.md
  const uint32_t wants = 0;
  char *line = (char *)into.address;
  device.returned = device.messages;
  memcpy(line, &acknowledgment, 4);
  memcpy(line + 4, &wants, 4);
  memcpy(line + 8, &device.messages, 8);
  memcpy(line + 16, &device.bytes, 8);
}

static int poll_receives(int limit, struct ibv_wc *found) {
  int count = 0;
  if (2 * (device.messages - device.returned) >= device.window && device.received < device.receives) {
    return_window(&found[count]);
    count++;
  }
  for (uint32_t i = 0; i < device.burst && count < limit && device.received < device.receives; i++) {
    if (device.ring) {
      receive(&found[count], IBV_WC_RECV_RDMA_WITH_IMM, device.length);
      set_immediate(&found[count], device.length);
    } else if (device.sent < device.granted) {
      receive(&found[count], IBV_WC_RECV, device.length);
      set_immediate(&found[count], grant(MESSAGE));
      device.sent++;
    } else {
      break;
    }
    count++;
  }
  return count;
}

static int poll_cq(struct ibv_cq *queue, int limit, struct ibv_wc *found) {
  return queue == device.pair.send_cq ? poll_sends(limit, found) : poll_receives(limit, found);
}

static int req_notify_cq(struct ibv_cq *queue, int solicited_only) {
  (void)queue;
  (void)solicited_only;
  return 0;
}

struct ibv_context *idle_context(void) {
  device.context.ops.post_send = post_send;
  device.context.ops.post_recv = post_recv;
  device.context.ops.poll_cq = poll_cq;
  device.context.ops.req_notify_cq = req_notify_cq;
  device.context.async_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); // never readable
  return &device.context;
}

struct ibv_cq *idle_create_cq(void) {
  struct ibv_cq *queue = calloc(1, sizeof *queue);
  queue->context = &device.context;
  return queue;
}

struct ibv_qp *idle_create_qp(struct ibv_cq *sends, struct ibv_cq *receives) {
  device.pair.context = &device.context;
  device.pair.send_cq = sends;
  device.pair.recv_cq = receives;
  device.pair.qp_num = 1;
  return &device.pair;
}

void idle_peer(uint32_t window, uint32_t burst, uint32_t length, uint32_t ring) {
  device.window = window;
  device.burst = burst;
  device.length = length;
  device.ring = ring;
  device.granted = window;
}
