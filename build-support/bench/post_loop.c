// SPDX-License-Identifier: Apache-2.0
// What RdmaSendBenchmark and RdmaReceiveBenchmark measure, written by hand in C over the same device: work requests of
// a prepared chain are edited and posted, completions are polled and processed, and buffers and credits are returned.
// Prints one line for each measurement: its name, the provider, the length of a message, and ns per message.
#include "idle_device.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  LONGEST = 1024,
  INLINE = 220,
  CHAIN = 64,
  SIGNALED_EVERY = 16, // as in Ferrule
  UNACKED = 64,
  POLLED = 32,
  REPOSTED = 16,
  KEY = 7
};

static struct ibv_context *context;
static struct ibv_cq *sends_cq;
static struct ibv_cq *receives_cq;
static struct ibv_qp *pair;
static struct ibv_send_wr requests[CHAIN];
static struct ibv_sge pieces[CHAIN];
static struct ibv_recv_wr buffers[REPOSTED];
static struct ibv_sge buffer_pieces[REPOSTED];
static struct ibv_wc found[POLLED];
static char message[LONGEST] __attribute__((aligned(64)));
static char memory[UNACKED * LONGEST] __attribute__((aligned(64)));
static char received[1024 * LONGEST] __attribute__((aligned(64)));

static int ring;
static uint32_t window;
static uint64_t posted;
static uint64_t retired;
static uint64_t allowed;     // messages that the peer has room for
static uint64_t consumed;    // received messages
static uint64_t reported;    // of them, those reported to the peer
static uint32_t controls;    // control messages received
static int to_repost;
static uint64_t sum;

static void post_receives(void) {
  struct ibv_recv_wr *bad;
  buffers[to_repost - 1].next = NULL;
  if (ibv_post_recv(pair, buffers, &bad) != 0) {
    abort();
  }
  if (to_repost < REPOSTED) {
    buffers[to_repost - 1].next = &buffers[to_repost];
  }
  to_repost = 0;
}

static void repost(uint64_t buffer) {
  buffers[to_repost].wr_id = buffer;
  buffer_pieces[to_repost].addr = (uintptr_t)&received[buffer * LONGEST];
  to_repost++;
  if (to_repost == REPOSTED) {
    post_receives();
  }
}

static uint32_t immediate(uint32_t type) {
  return type << 28 | (controls & 0xff) << 16 | (uint32_t)((consumed + window) & 0xffff);
}

static void report(void) {
  struct ibv_send_wr *bad;
  struct ibv_send_wr request = {
      .wr_id = posted, .opcode = ring ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM, .send_flags = IBV_SEND_SIGNALED};
  request.imm_data = htonl(immediate(2));
  reported = consumed;
  if (ibv_post_send(pair, &request, &bad) != 0) {
    abort();
  }
}

static void retire(void) {
  int count = ibv_poll_cq(sends_cq, POLLED, found);
  for (int i = 0; i < count; i++) {
    if (found[i].status != IBV_WC_SUCCESS) {
      abort();
    }
    retired = found[i].wr_id;
  }
}

// Handles one receive; returns whether it is a message.
static int take(const struct ibv_wc *completion) {
  if (completion->status != IBV_WC_SUCCESS) {
    abort();
  }
  uint64_t buffer = completion->wr_id;
  int is_message = 1;
  if (ring) {
    is_message = completion->opcode == IBV_WC_RECV_RDMA_WITH_IMM;
    if (!is_message) {
      uint64_t freed;
      memcpy(&freed, &received[buffer * LONGEST + 8], sizeof freed);
      allowed = freed + window;
    }
  } else {
    uint32_t data = ntohl(completion->imm_data);
    allowed += (uint16_t)(data - (uint32_t)allowed);
    is_message = data >> 28 == 1;
    controls += !is_message;
  }
  if (is_message) {
    uint64_t first;
    memcpy(&first, &received[buffer * LONGEST], sizeof first);
    sum += first + completion->byte_len;
    consumed++;
  }
  repost(buffer);
  return is_message;
}

static int receive(int limit) {
  int messages = 0;
  int count = ibv_poll_cq(receives_cq, limit, found);
  for (int i = 0; i < count; i++) {
    messages += take(&found[i]);
  }
  if (2 * (consumed - reported) >= window) {
    report();
    retire();
  }
  return messages;
}

static void await_room(void) {
  while (posted - retired >= UNACKED) {
    retire();
  }
  while (posted >= allowed) {
    receive(POLLED);
  }
}

static void edit(int index, uint32_t length) {
  if (posted - retired >= UNACKED || posted >= allowed) {
    await_room();
  }
  uint64_t line = posted % UNACKED * LONGEST;
  posted++;
  struct ibv_send_wr *request = &requests[index];
  request->wr_id = posted;
  request->num_sge = 1;
  request->opcode = ring ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_SEND_WITH_IMM;
  request->send_flags = posted % SIGNALED_EVERY == 0 ? IBV_SEND_SIGNALED : 0;
  if (length <= INLINE) {
    request->send_flags |= IBV_SEND_INLINE;
    pieces[index].addr = (uintptr_t)message;
  } else {
    memcpy(&memory[line], message, length);
    pieces[index].addr = (uintptr_t)&memory[line];
  }
  pieces[index].length = length;
  pieces[index].lkey = KEY;
  if (ring) {
    request->imm_data = htonl(length);
    request->wr.rdma.remote_addr = posted % window * LONGEST;
    request->wr.rdma.rkey = KEY;
  } else {
    request->imm_data = htonl(immediate(1));
  }
}

static void send_batch(int batch, uint32_t length) {
  struct ibv_send_wr *bad;
  for (int i = 0; i < batch; i++) {
    edit(i, length);
  }
  requests[batch - 1].next = NULL;
  if (ibv_post_send(pair, requests, &bad) != 0) {
    abort();
  }
  if (batch < CHAIN) {
    requests[batch - 1].next = &requests[batch];
  }
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + now.tv_nsec / 1e9;
}

// Returns ns per message: the least of several short measurements.
static double measure(int is_receive, int batch, uint32_t length) {
  double least = 1e9;
  for (int round = 0; round < 12; round++) {
    long messages = 0;
    double start = seconds();
    double now = start;
    while (now - start < 0.05) {
      for (int i = 0; i < 2000; i++) {
        if (is_receive) {
          messages += receive(batch);
        } else {
          send_batch(batch, length);
          messages += batch;
        }
      }
      now = seconds();
    }
    double each = (now - start) * 1e9 / (double)messages;
    if (each < least) {
      least = each;
    }
  }
  return least;
}

int main(int count, char **arguments) {
  if (count != 5) {
    fprintf(stderr, "usage: post_loop sendrecv|magicring send|receive BATCH LENGTH\n");
    return 2;
  }
  ring = strcmp(arguments[1], "magicring") == 0;
  int is_receive = strcmp(arguments[2], "receive") == 0;
  int batch = atoi(arguments[3]);
  uint32_t length = (uint32_t)atoi(arguments[4]);
  window = ring ? 256 : 64;
  allowed = window;
  int posted_receives = ring ? 530 : 68;

  context = idle_context();
  sends_cq = idle_create_cq();
  receives_cq = idle_create_cq();
  pair = idle_create_qp(sends_cq, receives_cq);
  idle_peer(window, is_receive ? (uint32_t)batch : 0, length, (uint32_t)ring);
  for (int i = 0; i < CHAIN; i++) {
    requests[i].sg_list = &pieces[i];
    requests[i].next = i + 1 < CHAIN ? &requests[i + 1] : NULL;
  }
  for (int i = 0; i < REPOSTED; i++) {
    buffers[i].sg_list = &buffer_pieces[i];
    buffers[i].num_sge = 1;
    buffers[i].next = i + 1 < REPOSTED ? &buffers[i + 1] : NULL;
    buffer_pieces[i].length = LONGEST;
    buffer_pieces[i].lkey = KEY;
  }
  for (int i = 0; i < posted_receives; i++) {
    repost((uint64_t)i);
  }
  if (to_repost > 0) {
    post_receives();
  }

  double each = measure(is_receive, batch, length);
  printf("%s,%s,%d,%u,%.2f\n", arguments[1], arguments[2], batch, length, each);
  return sum == 1; // the messages are read
}
