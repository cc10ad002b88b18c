// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PredictionTest {

  private final PerformanceModel model = new PerformanceModel(PerformanceModelTest.CARD, true);

  private Prediction predict(Scenario.Pattern pattern, int nodes, int size, int threads) {
    return Prediction.of(model, new Scenario(pattern, nodes, new Load(size, 64, 1), threads, 0));
  }

  @Test
  void fewSendersAreLimitedByThemselvesAndManyByTheOneReceiver() {
    Prediction two = predict(Scenario.Pattern.ALL_TO_ONE, 2, 16, 4);
    // twice a message every 150 ns, or 13.3 M/s; its card allows one every 71.2 ns, 14.0 M/s
    assertThat(two.messagesPerSecond()).isCloseTo(2e9 / 150, within(1.0));
    assertThat(two.bottleneck()).isEqualTo(Stage.SENDER_CPU);
    assertThat(two.cpuMessagesPerSecond()).isEqualTo(two.messagesPerSecond());
    Prediction many = predict(Scenario.Pattern.ALL_TO_ONE, 64, 16, 4);
    assertThat(many.messagesPerSecond()).isCloseTo(1e9 / 71.2, within(1.0));
    assertThat(many.bottleneck()).isEqualTo(Stage.RECEIVER_NIC);
    assertThat(many.cpuMessagesPerSecond()).isCloseTo(4e9 / 66, within(1.0));
    assertThat(many.bytesPerSecond()).isCloseTo(16e9 / 71.2, within(20.0));
  }

  @Test
  void longMessagesFillTheLinkHoweverManyNodesThereAre() {
    for (int nodes : new int[] {8, 64, 512}) {
      Prediction prediction = predict(Scenario.Pattern.ALL_TO_ONE, nodes, 8192, 4);
      assertThat(prediction.bottleneck()).isEqualTo(Stage.LINK);
      assertThat(prediction.bytesPerSecond()).isLessThan(1e9 / 0.08);
    }
  }

  @Test
  void inAllToAllEachNodeSendsAsMuchAsItReceives() {
    Prediction one = predict(Scenario.Pattern.ALL_TO_ALL, 64, 16, 1);
    assertThat(one.messagesPerSecond()).isCloseTo(1e9 / 150, within(1.0));
    assertThat(one.bottleneck()).isEqualTo(Stage.SENDER_CPU);
    Prediction eight = predict(Scenario.Pattern.ALL_TO_ALL, 64, 16, 8);
    assertThat(eight.messagesPerSecond()).isCloseTo(1e9 / 71.2, within(1.0));
  }

  private Prediction predictShared(Scenario.Pattern pattern, int nodes, int processors) {
    PerformanceModel lines = new PerformanceModel(PerformanceModelTest.CARD, false);
    return Prediction.of(lines, new Scenario(pattern, nodes, new Load(16, 64, 1), 4, processors));
  }

  /** The same as in PerformanceModel for several connections of one host. */
  @Test
  void inSharedMemoryEachConnectionHasItsOwnLinesAndAllShareTheProcessors() {
    Prediction many = predictShared(Scenario.Pattern.ALL_TO_ONE, 64, 1000);
    assertThat(many.messagesPerSecond()).isCloseTo(4e9 / 66, within(1.0));
    assertThat(many.bottleneck()).isEqualTo(Stage.RECEIVER_CPU);
    assertThat(many.nicMessagesPerSecond()).isCloseTo(64e9 / 71.2, within(100.0));
    // each message takes 150 + 66 + 61.2 + 71.2 ns of processor time
    Prediction few = predictShared(Scenario.Pattern.ALL_TO_ONE, 64, 2);
    assertThat(few.messagesPerSecond()).isCloseTo(2e9 / 348.4, within(1.0));
    assertThat(few.bottleneck()).isEqualTo(Stage.PROCESSORS);
    // with 64 receiving processes
    Prediction each = predictShared(Scenario.Pattern.ALL_TO_ALL, 64, 2);
    assertThat(each.messagesPerSecond()).isCloseTo(2e9 / 348.4 / 64, within(1.0));
  }

  /** The table of docs/protocol-sm.md, The ring. */
  @Test
  void inASmallRingFewerMessagesAreInline() {
    assertThat(new SharedMemory(504, 4 << 10).bufferBytes()).isEqualTo(4 << 10);
    assertThat(new SharedMemory(505, 4 << 10).bufferBytes()).isEqualTo(64 << 10);
    assertThat(new SharedMemory(2040, 16 << 10).bufferBytes()).isEqualTo(4 << 10);
    assertThat(new SharedMemory(4096, 256 << 10).bufferBytes()).isEqualTo(4 << 10);
    assertThat(new SharedMemory(4097, 256 << 10).bufferBytes()).isEqualTo(64 << 10);
  }

  @Test
  void receiveBuffersGrowWithTheNodesAndASharedQueueDoesNot() {
    Memory memory = new Memory(4096, 256, 1024, 0, 256);
    // N (k + 4) (maxMessage + a completion)
    assertThat(memory.ownBufferBytes(64)).isEqualTo(64L * 260 * (4096 + 64));
    assertThat(memory.ownBufferBytes(128)).isEqualTo(2 * memory.ownBufferBytes(64));
    // one completion queue for all; on the heap, 12 bytes for each message of the largest share
    assertThat(memory.sharedBufferBytes(64)).isEqualTo(1024L * (4096 + 64) + 64 * 512 * 12);
    assertThat(memory.ringMemoryBytes(2)).isEqualTo(2 * ((256 << 10) + 128 * (2 * 256 + 18)));
  }

  @Test
  void aSharedQueueTakesLessMemoryThanQueuesOfTheirOwnForShortMessagesAsWell() {
    for (int maxMessage : new int[] {1, 64, 256, 1200, 4096, 64 << 10, 1 << 20}) {
      Memory memory = new Memory(maxMessage, 0, 0, 0, 256);
      assertThat(memory.sharedBufferBytes(32))
          .as("%d bytes", maxMessage)
          .isLessThan(memory.ownBufferBytes(32));
    }
  }

  /** The tables of docs/protocol-sendrecv.md and docs/protocol-magicring.md. */
  @Test
  void defaultsAreThoseOfTheProviders() {
    assertThat(new Memory(64, 0, 0, 0, 256).receives()).isEqualTo(256);
    assertThat(new Memory(64 << 10, 0, 0, 0, 256).receives()).isEqualTo(64);
    assertThat(new Memory(1 << 20, 0, 0, 0, 256).receives()).isEqualTo(8);
    assertThat(new Memory(1 << 20, 0, 0, 0, 256).ownBufferBytes(1)).isEqualTo((12 << 20) + 12 * 64);
    assertThat(new Memory(1 << 20, 0, 0, 0, 256).sharedReceives()).isEqualTo(64);
    assertThat(new Memory(64, 0, 0, 0, 256).sharedReceives()).isEqualTo(4096);
    assertThat(new Memory(64, 0, 0, 0, 256).ringBytes()).isEqualTo(256 << 10);
    assertThat(new Memory(4 << 10, 0, 0, 0, 256).ringBytes()).isEqualTo(256 << 10);
    assertThat(new Memory(64 << 10, 0, 0, 0, 256).ringBytes()).isEqualTo(4 << 20);
    assertThat(new Memory(1 << 20, 0, 0, 0, 256).ringBytes()).isEqualTo(4 << 20);
    assertThat(new Memory(128 << 20, 0, 0, 0, 256).ringBytes()).isEqualTo(128 << 20);
    assertThat(new Memory(1 << 20, 0, 0, 0, 256).sendBytes(3)).isEqualTo(12 << 20);
  }

  /**
   * The table of docs/guide-sm.md, Memory, and 20 KiB for remote memory access in each direction.
   */
  @ParameterizedTest
  @CsvSource({"256, 1064", "4096, 1064", "16384, 1124", "65536, 1316", "1048576, 5156"})
  void connectionsOverSharedMemoryOccupyWhatIsDocumented(long maxMessage, long kibEachWay) {
    assertThat(new SharedMemory(maxMessage, 1 << 20).bytes(3))
        .isEqualTo(3 * 2 * (kibEachWay + 20) * 1024);
  }
}
