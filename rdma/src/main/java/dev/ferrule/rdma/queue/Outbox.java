// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.queue;

/**
 * The messages of one sender: what it has reserved and staged, and the ids of what it has posted.
 * The senders of a connection share its {@link SendQueue}, and all space in it.
 *
 * <p>Ids count from 1 in each outbox. For the last posted ones, the outbox has the numbers that the
 * queue gives to the messages of all senders. Older ones are complete, since the queue limits the
 * messages that are not.
 *
 * <p><b>Threads:</b> used by the sender's thread.
 */
public final class Outbox {

  private final SendQueue queue;
  private final StagedMessages staged = new StagedMessages();
  private final int mask;
  private final long[] numbers; // in the queue, by id, of the last posted messages
  private long posted; // in total

  /** Messages that were reserved in total, without those released; under the queue's lock. */
  private long reserved;

  /**
   * Creates an empty outbox.
   *
   * @param unacked the maximum number of unacknowledged messages of all senders
   */
  Outbox(SendQueue queue, int unacked) {
    this.queue = queue;
    int slots = Integer.highestOneBit(2 * unacked - 1);
    this.mask = slots - 1;
    this.numbers = new long[slots];
  }

  /**
   * Reserves space for a message: memory, a work request, and resources of the peer.
   *
   * @param length the message's length in bytes
   * @param needsMemory whether it needs send memory
   * @return its first line, {@link SendQueue#NO_LINES}, {@link SendQueue#FULL} or {@link
   *     SendQueue#HELD}
   */
  public int reserve(int length, boolean needsMemory) {
    return queue.reserve(this, length, needsMemory);
  }

  /**
   * Releases the space of a reservation.
   *
   * @param line the result of {@link #reserve}
   * @param length the reserved length in bytes
   */
  public void unreserve(int line, int length) {
    queue.unreserve(this, line, length);
  }

  /**
   * Stages a message in the send memory.
   *
   * @param line the result of {@link #reserve}
   * @param reservedLength the reserved length in bytes
   * @param length the message's length in bytes, at most the reserved length
   * @return whether more can be staged before {@link #publish}
   */
  public boolean stage(int line, int reservedLength, int length) {
    return staged.add(line, queue.address(line), reservedLength, length, queue.memoryKey());
  }

  /**
   * Stages a message in registered memory of the program, after its reservation.
   *
   * @param address the address of the message
   * @param length its length in bytes, as reserved
   * @param key the local key of the memory
   * @return whether more can be staged before {@link #publish}
   */
  public boolean stageRegistered(long address, int length, int key) {
    return staged.add(SendQueue.NO_LINES, address, length, length, key);
  }

  /** {@return the number of staged messages} */
  public int staged() {
    return staged.count();
  }

  /**
   * Posts the staged messages, with one doorbell.
   *
   * @return whether posting succeeded; if not, the connection has ended
   */
  public boolean publish() {
    return queue.publish(this);
  }

  /** {@return the id of the last posted message; 0 if there is none} */
  public long posted() {
    return posted;
  }

  /** {@return the number of the last posted message in the queue, at least one being posted} */
  public long lastNumber() {
    return numbers[(int) posted & mask];
  }

  /** {@return the id of the last staged or posted message; 0 if there is none} */
  public long lastId() {
    return posted + staged.count();
  }

  /**
   * Returns whether the peer's device has acknowledged a message. Polls for completions if
   * necessary.
   *
   * @param id the id of a staged or posted message
   * @return whether it has
   */
  public boolean isComplete(long id) {
    return id <= posted - numbers.length
        || (id <= posted && queue.isComplete(numbers[(int) id & mask]));
  }

  /** Requests that threads are woken when there may be space for a message. */
  public void armForRoom() {
    queue.armForRoom();
  }

  /** Ends the use of the queue. Nothing is reserved or staged. */
  public void close() {
    queue.closeOutbox();
  }

  /** Returns the staged messages. */
  StagedMessages messages() {
    return staged;
  }

  /** Records that a message is posted, by its number in the queue. */
  void addPosted(long number) {
    posted++;
    numbers[(int) posted & mask] = number;
  }

  /** Records a reservation, or with -1 its release. Under the queue's lock. */
  void addReserved(int more) {
    reserved += more;
  }

  /** Returns how many messages are reserved but not posted. Under the queue's lock. */
  long held() {
    return reserved - posted;
  }

  /** Returns how many messages the program has claimed: staged ones are as good as sent. */
  long claimed() {
    return held() - staged.count();
  }
}
