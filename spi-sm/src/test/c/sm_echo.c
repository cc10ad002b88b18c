/* SPDX-License-Identifier: Apache-2.0
 *
 * A client of the sm protocol, written from docs/protocol-sm.md alone: connects to an endpoint and sends every message back, those of
 * the peer's first sender in its own first ring, and those of its second sender in a lane.
 *
 *   sm_echo ENDPOINT   where ENDPOINT is the directory PATH/PID/ID of a listener
 *
 * Ends with exit code 0 when the listener's side has closed the connection. No memory of the peer's is trusted more than it has
 * to be for an exchange of messages; a real implementation checks more.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { VERSION = 3, RMA_VERSION = 2, CONNECT = 1, ACCEPT = 2, ACK = 4 };
enum { KEEPALIVE = 1, WAKEUP = 2, CLOSED = 3, KEEPALIVE_REPLY = 4 };
enum { EMPTY = 0, INLINE = 1, LINES = 2, PADDING = 3 };
enum { LINE = 64, PAGE = 4096, RMA_SIZE = 20480, MY_ID = 1, GENERATION = 4711 };

/* offsets in ring */
enum { MAGIC_AT = 0, VERSION_AT = 8, GENERATION_AT = 16, PEER_GENERATION_AT = 24, SHIFT_AT = 32, LINES_AT = 36, MAX_AT = 40,
       LANES_AT = 44, SENDER_ASLEEP = 256, SENDER_CLOSED = 260, SENDER_LANES = 264, CONSUMED = 512, HELD = 520, RECEIVER_ASLEEP = 768, RELEASES = 4096 };

#define WOKEN (1u << 31) /* a bit of RECEIVER_ASLEEP */

static void fail(const char *what) {
  fprintf(stderr, "sm_echo: %s: %s\n", what, strerror(errno));
  exit(1);
}

static long check(long result, const char *what) {
  if (result < 0) fail(what);
  return result;
}

static long page_up(long n) { return (n + PAGE - 1) & -PAGE; }

/* The first ring of a direction, or a lane: in memory of the side that receives. */
struct direction {
  struct direction *first; /* has the control words of all rings */
  char *memory;    /* of the ring; of the first one, also of the whole file */
  char *records;
  char *buffer;
  uint64_t size;   /* of the records */
  uint32_t entries; /* of the release ring */
  uint32_t lines;
  uint32_t max_message;
  /* of the side that sends */
  uint64_t tail, next_line, out, freed;
  /* of the side that receives */
  uint64_t position, released;
};

static uint64_t *u64(struct direction *d, long offset) { return (uint64_t *)(d->memory + offset); }
static uint32_t *u32(struct direction *d, long offset) { return (uint32_t *)(d->memory + offset); }

static long ring_size(uint64_t records) {
  uint64_t entries = records / 128 > 8 ? records / 128 : 8;
  return RELEASES + page_up(4 * entries) + records;
}

static void place(struct direction *d) {
  d->first = d;
  d->size = 1ull << *u32(d, SHIFT_AT);
  d->entries = d->size / 128 > 8 ? d->size / 128 : 8;
  d->lines = *u32(d, LINES_AT);
  d->max_message = *u32(d, MAX_AT);
  d->records = d->memory + RELEASES + page_up(4l * d->entries);
  d->buffer = d->memory + ring_size(d->size) + RMA_SIZE;
}

/* The only lane of a direction that is used. */
static void place_lane(struct direction *lane, struct direction *first) {
  *lane = *first;
  lane->first = first;
  lane->memory = first->buffer + page_up((long)first->lines * LINE);
  lane->records = lane->memory + (first->records - first->memory);
  lane->buffer = lane->memory + page_up(ring_size(first->size));
}

static int make_memory(struct direction *d) {
  const int shift = 13;
  const uint32_t lines = 1024, longest = 16384;
  long size = ring_size(1ull << shift) + RMA_SIZE + page_up((long)lines * LINE);
  long lane = page_up(ring_size(1ull << shift)) + page_up((long)lines * LINE);
  int fd = check(memfd_create("sm_echo", MFD_CLOEXEC | MFD_ALLOW_SEALING), "memfd_create");
  check(ftruncate(fd, size + lane), "ftruncate");
  check(-posix_fallocate(fd, 0, size), "posix_fallocate");
  check(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), "F_ADD_SEALS");
  d->memory = mmap(0, size + lane, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (d->memory == MAP_FAILED) fail("mmap");
  char *rma = d->memory + ring_size(1ull << shift);
  *(uint32_t *)(rma + 8) = RMA_VERSION;
  *(uint64_t *)(rma + 16) = GENERATION;
  memcpy(rma, "FerruRMA", 8);
  *u32(d, VERSION_AT) = VERSION;
  *u64(d, GENERATION_AT) = GENERATION;
  *u32(d, SHIFT_AT) = shift;
  *u32(d, LINES_AT) = lines;
  *u32(d, MAX_AT) = longest;
  *u32(d, LANES_AT) = 1;
  place(d);
  __atomic_store_n(u64(d, MAGIC_AT), 0x21656c7572726546ull, __ATOMIC_RELEASE);
  return fd;
}

/* -- the endpoint's directory ------------------------------------------------------------------------------------------ */

static char own[90], peer[90];

static void make_endpoint(const char *server) {
  char path[60], line[80];
  snprintf(path, sizeof path, "%s", server);
  *strrchr(path, '/') = 0;
  *strrchr(path, '/') = 0;
  snprintf(peer, sizeof peer, "%s", server);
  snprintf(own, sizeof own, "%s/%d", path, getpid());
  check(mkdir(own, 0700) | chmod(own, 01700), "mkdir PATH/PID");
  snprintf(own, sizeof own, "%s/%d/1", path, getpid());
  check(mkdir(own, 0700) | chmod(own, 01700), "mkdir PATH/PID/ID");
  check(chdir(own), "chdir");
  int lock = check(open("lock", O_RDWR | O_CREAT | O_NOFOLLOW, 0600), "lock");
  struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  check(fcntl(lock, F_OFD_SETLK, &all), "F_OFD_SETLK");
  int n = snprintf(line, sizeof line, "client   of process %d, protocol version 3\n", getpid());
  check(pwrite(lock, line, n, 0), "pwrite");
  check(mkdir("conns", 0700) | chmod("conns", 01700), "conns");
  check(mkfifo("fifo", 0600), "mkfifo");
}

static void remove_endpoint(void) {
  unlink("sock");
  unlink("fifo");
  rmdir("conns");
  unlink("lock");
  rmdir(own);
  *strrchr(own, '/') = 0;
  rmdir(own);
}

/* -- the handshake ----------------------------------------------------------------------------------------------------- */

static int sock, own_fifo, peer_fifo;
static uint32_t server_id;

static void send_datagram(int type, uint64_t server, int fd) {
  uint64_t header = type | VERSION << 4 | (uint64_t)MY_ID << 24 | server << 44;
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  snprintf(to.sun_path, sizeof to.sun_path, "%s/sock", peer);
  struct iovec bytes = {&header, sizeof header};
  char control[CMSG_SPACE(sizeof(int))] = {0};
  struct msghdr message = {.msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &bytes, .msg_iovlen = 1};
  if (fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
  }
  if (sendmsg(sock, &message, MSG_DONTWAIT) < 0 && errno != EAGAIN) fail("sendmsg");
}

/* Returns the descriptor that came with an ACCEPT, or -1. */
static int receive_datagram(void) {
  uint64_t header;
  struct iovec bytes = {&header, sizeof header};
  char control[CMSG_SPACE(sizeof(int))];
  struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  if (recvmsg(sock, &message, MSG_CMSG_CLOEXEC) < (long)sizeof header) return -1;
  struct cmsghdr *c = CMSG_FIRSTHDR(&message);
  if ((header & 15) != ACCEPT || (header >> 4 & 255) != VERSION || !c || c->cmsg_type != SCM_RIGHTS) return -1;
  server_id = header >> 44;
  int fd;
  memcpy(&fd, CMSG_DATA(c), sizeof fd);
  return fd;
}

static void handshake(int memory, struct direction *out) {
  sock = check(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket");
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  snprintf(name.sun_path, sizeof name.sun_path, "%s/sock", own);
  check(bind(sock, (struct sockaddr *)&name, sizeof name), "bind");
  struct timeval wait = {0, 100000};
  check(setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait), "SO_RCVTIMEO");
  own_fifo = check(open("fifo", O_RDWR | O_NONBLOCK | O_CLOEXEC), "fifo");
  char fifo[140];
  snprintf(fifo, sizeof fifo, "%s/fifo", peer);
  peer_fifo = check(open(fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC), "the peer's fifo");
  int fd = -1;
  for (int i = 0; i < 300 && fd < 0; i++) {
    send_datagram(CONNECT, 0, memory);
    fd = receive_datagram();
  }
  if (fd < 0) fail("no ACCEPT");
  struct stat status;
  check(fstat(fd, &status), "fstat");
  out->memory = mmap(0, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (out->memory == MAP_FAILED) fail("mmap of the peer's memory");
  if (*u64(out, PEER_GENERATION_AT) != GENERATION) fail("an ACCEPT of another connection");
  place(out);
  struct pollfd reader = {.fd = peer_fifo};
  if (poll(&reader, 1, 0) != 0) fail("the listener's process has ended");
  send_datagram(ACK, server_id, -1);
}

/* -- the FIFO and waking up -------------------------------------------------------------------------------------------- */

static void notify_peer(int type) {
  uint32_t header = type | server_id << 4;
  if (write(peer_fifo, &header, sizeof header) < 0 && errno != EAGAIN) fail("write to the peer's fifo");
}

static void answer_keepalives(void) {
  uint32_t header;
  while (read(own_fifo, &header, sizeof header) == sizeof header)
    if ((header & 15) == KEEPALIVE) notify_peer(KEEPALIVE_REPLY);
}

/* Wakes the receiver of all rings; see "Several senders" on the order. */
static void wake_receiver(struct direction *d) {
  uint32_t *flag = u32(d->first, RECEIVER_ASLEEP);
  __atomic_thread_fence(__ATOMIC_SEQ_CST); /* this process is not registered for membarrier */
  uint32_t number = __atomic_load_n(flag, __ATOMIC_RELAXED);
  if (!number) return;
  if (number & 1) {
    uint32_t found = number;
    number |= WOKEN;
    __atomic_compare_exchange_n(flag, &found, number, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    syscall(SYS_futex, flag, FUTEX_WAKE, 1, 0, 0, 0);
  } else {
    notify_peer(WAKEUP);
  }
  __atomic_compare_exchange_n(flag, &number, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

static void wake_sender(struct direction *d) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (!__atomic_load_n(u32(d, SENDER_ASLEEP), __ATOMIC_RELAXED)) return;
  if (__atomic_exchange_n(u32(d, SENDER_ASLEEP), 0, __ATOMIC_SEQ_CST)) notify_peer(WAKEUP);
}

/* -- sending ----------------------------------------------------------------------------------------------------------- */

static struct direction *incoming;

/* While this side waits. */
static void idle(void) {
  if (__atomic_load_n(u32(incoming, SENDER_CLOSED), __ATOMIC_ACQUIRE)) {
    errno = EPIPE;
    fail("the listener's side has closed the connection and not received everything");
  }
  answer_keepalives();
  sched_yield();
}

/* The end of the lap before which a record has to end, and the payload that the receiver holds. */
static uint64_t barrier(struct direction *d, uint64_t position, uint64_t *size) {
  uint64_t end = (position | (d->size - 1)) + 1;
  uint64_t held = __atomic_load_n(u64(d, HELD), __ATOMIC_ACQUIRE);
  *size = 0;
  if (held) {
    uint64_t at = position + ((held >> 32) - position & (d->size - 1));
    if (at < end) {
      *size = held & 0xffffffff;
      return at;
    }
  }
  return end;
}

static void await_room(struct direction *d, uint64_t end) {
  while (end + 8 > __atomic_load_n(u64(d, CONSUMED), __ATOMIC_ACQUIRE) + d->size) idle();
}

static void store(struct direction *d, uint64_t position, uint64_t header) {
  __atomic_store_n((uint64_t *)(d->records + (position & (d->size - 1))), header, __ATOMIC_RELEASE);
}

static void skip(struct direction *d, uint64_t size) {
  await_room(d, d->tail + size);
  store(d, d->tail + size, EMPTY);
  store(d, d->tail, size << 4 | PADDING);
  d->tail += size;
}

static char *reserve(struct direction *d, uint64_t size) {
  uint64_t held;
  for (;;) {
    await_room(d, d->tail + size);
    uint64_t at = barrier(d, d->tail, &held);
    if (d->tail + size <= at) return d->records + (d->tail & (d->size - 1));
    skip(d, at == d->tail ? held : at - d->tail);
  }
}

static void publish(struct direction *d, uint64_t size, uint64_t header) {
  store(d, d->tail + size, EMPTY);
  store(d, d->tail, header);
  d->tail += size;
  wake_receiver(d);
}

static void send_message(struct direction *d, const char *bytes, uint64_t length) {
  uint64_t longest = d->size / 8 - 8 < 4096 ? d->size / 8 - 8 : 4096;
  if (length <= longest) {
    char *record = reserve(d, length + 15 & -8ull);
    memcpy(record + 8, bytes, length);
    publish(d, length + 15 & -8ull, length << 4 | INLINE);
    return;
  }
  /* Lines are used in order, for one message at a time: all are free when the release ring reports the last one. */
  while (d->freed < d->out) {
    uint32_t lap = d->freed / d->entries + 1 & 255;
    if (__atomic_load_n(u32(d, RELEASES + 4 * (d->freed % d->entries)), __ATOMIC_ACQUIRE) >> 24 == lap) d->freed++;
    else idle();
  }
  uint64_t count = (length + LINE - 1) / LINE;
  if (d->next_line + count > d->lines) d->next_line = 0;
  reserve(d, 8);
  memcpy(d->buffer + d->next_line * LINE, bytes, length);
  publish(d, 8, length << 32 | d->next_line << 8 | LINES);
  d->next_line += count;
  d->out++;
}

/* -- receiving --------------------------------------------------------------------------------------------------------- */

static uint64_t look(struct direction *d) {
  return __atomic_load_n((uint64_t *)(d->records + (d->position & (d->size - 1))), __ATOMIC_ACQUIRE);
}

static void consumed(struct direction *d, uint64_t size) {
  d->position += size;
  __atomic_store_n(u64(d, CONSUMED), d->position, __ATOMIC_RELEASE);
  wake_sender(d);
}

/* Sends the next message back; returns 0 if there is none. */
static int echo(struct direction *in, struct direction *out) {
  uint64_t header = look(in);
  char *record = in->records + (in->position & (in->size - 1));
  switch (header & 15) {
    case INLINE:
      send_message(out, record + 8, header >> 4);
      consumed(in, (header >> 4) + 15 & -8ull);
      return 1;
    case LINES: {
      uint32_t line = header >> 8 & 0xffffff;
      send_message(out, in->buffer + (uint64_t)line * LINE, header >> 32);
      consumed(in, 8);
      uint32_t lap = in->released / in->entries + 1 & 255;
      __atomic_store_n(u32(in, RELEASES + 4 * (in->released % in->entries)), line | lap << 24, __ATOMIC_RELEASE);
      in->released++;
      wake_sender(in);
      return 1;
    }
    case PADDING:
      consumed(in, header >> 4);
      return 1;
    case EMPTY:
      return 0;
    default:
      errno = EPROTO;
      fail("a record of an unknown type");
      return 0;
  }
}

int main(int count, char **arguments) {
  if (count != 2) {
    fprintf(stderr, "usage: sm_echo PATH/PID/ID\n");
    return 2;
  }
  struct direction in = {0}, out = {0}, in_lane = {0}, out_lane = {0};
  incoming = &in;
  make_endpoint(arguments[1]);
  int memory = make_memory(&in);
  handshake(memory, &out);
  place_lane(&in_lane, &in);
  if (*u32(&out, LANES_AT) > 0) {
    place_lane(&out_lane, &out);
    check(madvise(out_lane.memory, page_up(ring_size(out.size)) + page_up((long)out.lines * LINE), MADV_POPULATE_WRITE),
          "MADV_POPULATE_WRITE");
  }
  for (;;) {
    int closed = __atomic_load_n(u32(&in, SENDER_CLOSED), __ATOMIC_ACQUIRE);
    int found = echo(&in, &out);
    if (__atomic_load_n(u64(&in, SENDER_LANES), __ATOMIC_ACQUIRE) & 1) {
      int lanes = *u32(&out, LANES_AT); /* with none, the answer goes back in the first ring */
      if (lanes && !(*u64(&out, SENDER_LANES) & 1)) __atomic_fetch_or(u64(&out, SENDER_LANES), 1, __ATOMIC_SEQ_CST);
      found |= echo(&in_lane, lanes ? &out_lane : &out);
    }
    if (closed && !found) break; /* all rings were empty after the last message of each */
    answer_keepalives();
    sched_yield();
  }
  __atomic_store_n(u32(&out, SENDER_CLOSED), 1, __ATOMIC_RELEASE);
  notify_peer(CLOSED);
  remove_endpoint();
  return 0;
}
