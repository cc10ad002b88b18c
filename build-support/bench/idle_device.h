// SPDX-License-Identifier: Apache-2.0
// A device of one queue pair, without hardware and network. It completes each posted request immediately, and acts as
// the peer. RdmaSendBenchmark and RdmaReceiveBenchmark, through Ferrule, and post_loop.c, at the level of verbs, post
// to it and poll it by the functions in ibv_context.ops: the difference of their times is the cost of Ferrule.
#ifndef IDLE_DEVICE_H
#define IDLE_DEVICE_H

#include <infiniband/verbs.h>
#include <stdint.h>

// Returns the context of the device. There is one in a process.
struct ibv_context *idle_context(void);

struct ibv_cq *idle_create_cq(void);

struct ibv_qp *idle_create_qp(struct ibv_cq *sends, struct ibv_cq *receives);

// Configures the peer.
//   window  the number of messages that it allows at first; it returns the window when half of it is used
//   burst   the maximum number of its messages that a poll finds; 0 for none
//   length  the length of these messages
//   ring    whether it writes into a ring and acknowledges by SEND, as magicring; otherwise it grants
//           credits in immediate data, as sendrecv
void idle_peer(uint32_t window, uint32_t burst, uint32_t length, uint32_t ring);

#endif
