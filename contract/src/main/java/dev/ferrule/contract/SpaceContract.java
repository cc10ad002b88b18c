// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.Sender;
import dev.ferrule.StandardOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What each method that needs space does without it: it waits, times out, or returns at once. */
public abstract class SpaceContract extends Contract {

  private static final int LENGTH = 600;

  /** The ways to send a message. */
  enum Way {
    CLAIM,
    SEND,
    SEND_PART,
    SEND_REGISTERED,
    SEND_GATHER,
    STAGE,
    STAGE_PART,
    STAGE_REGISTERED,
    STAGE_GATHER
  }

  /** What a call does if there is no space. */
  enum Form {
    WAITING,
    TIMED,
    TRYING
  }

  /**
   * Creates the tests.
   *
   * @param provider the provider under test
   */
  protected SpaceContract(ProviderUnderTest provider) {
    super(provider);
  }

  /** Sends numbered messages, whose number is in each of their words. */
  private static final class Numbers {
    private final Sender sender;
    private final RegisteredMemory registered;
    private final MemorySegment heap = MemorySegment.ofArray(new byte[LENGTH + 8]);
    private long sent;

    Numbers(Pair pair) {
      sender = pair.client().sender();
      registered = pair.client().register(Arena.ofAuto().allocate(8L + LENGTH * 8_192L));
    }

    /** Calls the method; returns whether it sent the message. */
    boolean call(Way way, Form form, Duration timeout) {
      long id = id(way, form, timeout);
      if (id == 0) {
        assertThat(form).as("form of %s that returns 0", way).isEqualTo(Form.TRYING);
        return false;
      }
      assertThat(id).as("the id of %s", way).isEqualTo(++sent);
      return true;
    }

    private long id(Way way, Form form, Duration timeout) {
      MemorySegment memory = registered.segment();
      long place = 8 + sent % 8_192 * LENGTH; // not that of a message that may be in flight
      fill(heap, 0, LENGTH + 8);
      fill(memory, place, LENGTH);
      MemorySegment whole = heap.asSlice(0, LENGTH);
      MemorySegment header = heap.asSlice(8, 8);
      boolean timed = form == Form.TIMED;
      boolean tries = form == Form.TRYING;
      return switch (way) {
        case CLAIM -> {
          try (var region =
              timed
                  ? sender.claim(LENGTH, timeout)
                  : tries ? sender.tryClaim(LENGTH) : sender.claim(LENGTH)) {
            if (region == null) {
              yield 0;
            }
            MemorySegment.copy(heap, 0, region.buffer(), region.offset(), LENGTH);
            yield region.commit();
          }
        }
        case SEND ->
            timed
                ? sender.send(whole, timeout)
                : tries ? sender.trySend(whole) : sender.send(whole);
        case SEND_PART ->
            timed
                ? sender.send(heap, 8, LENGTH, timeout)
                : tries ? sender.trySend(heap, 8, LENGTH) : sender.send(heap, 8, LENGTH);
        case SEND_REGISTERED ->
            timed
                ? sender.sendRegistered(registered, place, LENGTH, timeout)
                : tries
                    ? sender.trySendRegistered(registered, place, LENGTH)
                    : sender.sendRegistered(registered, place, LENGTH);
        case SEND_GATHER ->
            timed
                ? sender.sendRegistered(header, registered, place, LENGTH - 8, timeout)
                : tries
                    ? sender.trySendRegistered(header, registered, place, LENGTH - 8)
                    : sender.sendRegistered(header, registered, place, LENGTH - 8);
        case STAGE ->
            timed
                ? sender.stage(whole, timeout)
                : tries ? sender.tryStage(whole) : sender.stage(whole);
        case STAGE_PART ->
            timed
                ? sender.stage(heap, 8, LENGTH, timeout)
                : tries ? sender.tryStage(heap, 8, LENGTH) : sender.stage(heap, 8, LENGTH);
        case STAGE_REGISTERED ->
            timed
                ? sender.stageRegistered(registered, place, LENGTH, timeout)
                : tries
                    ? sender.tryStageRegistered(registered, place, LENGTH)
                    : sender.stageRegistered(registered, place, LENGTH);
        case STAGE_GATHER ->
            timed
                ? sender.stageRegistered(header, registered, place, LENGTH - 8, timeout)
                : tries
                    ? sender.tryStageRegistered(header, registered, place, LENGTH - 8)
                    : sender.stageRegistered(header, registered, place, LENGTH - 8);
      };
    }

    private void fill(MemorySegment memory, long offset, int length) {
      for (long at = offset; at < offset + length; at += 8) {
        memory.set(ValueLayout.JAVA_LONG_UNALIGNED, at, sent);
      }
    }

    /** Sends until each way finds no space. The transport may add space at any time. */
    void fillUp() {
      int refused = 0;
      while (refused < Way.values().length) {
        refused = call(Way.values()[refused], Form.TRYING, Duration.ZERO) ? 0 : refused + 1;
      }
    }
  }

  private static void receive(Pair pair, long first, long last) {
    for (long number = first; number < last; number++) {
      try (ReceiveRegion message = pair.server().receiver().receive(PATIENCE)) {
        assertThat(message.length()).isEqualTo(LENGTH);
        for (long at = 0; at < LENGTH; at += 8) {
          assertThat(message.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, at))
              .as("word at %d of message %d", at, number)
              .isEqualTo(number);
        }
      }
    }
  }

  private static void expectNoMore(Pair pair) {
    @Nullable ReceiveRegion more = pair.server().receiver().tryReceive();
    assertThat(more).as("a message that was refused").isNull();
  }

  private Pair smallPair() {
    return connect(options().set(StandardOptions.MAX_MESSAGE, 1L * KIB));
  }

  @ParameterizedTest
  @EnumSource
  void withSpaceEveryWaySends(Form form) {
    Pair pair = smallPair();
    Numbers numbers = new Numbers(pair);
    for (int round = 0; round < 3; round++) {
      long first = numbers.sent;
      for (Way way : Way.values()) {
        assertThat(numbers.call(way, form, Duration.ZERO)).as("%s %s", form, way).isTrue();
      }
      numbers.sender.flush();
      receive(pair, first, numbers.sent);
    }
    expectNoMore(pair);
  }

  @ParameterizedTest
  @EnumSource
  void withoutSpaceATrySendsNothing(Way way) {
    Pair pair = smallPair();
    Numbers numbers = new Numbers(pair);
    numbers.fillUp();
    long stalls = pair.client().counters().backPressureStalls();

    while (numbers.call(way, Form.TRYING, Duration.ZERO)) {
      idle();
    }

    assertThat(numbers.sender.staged()).as("messages staged").isZero();
    assertThat(pair.client().counters().backPressureStalls()).isGreaterThan(stalls);
    receive(pair, 0, numbers.sent);
    expectNoMore(pair);
    assertThat(numbers.call(way, Form.TIMED, PATIENCE)).isTrue();
    numbers.sender.flush();
    receive(pair, numbers.sent - 1, numbers.sent);
  }

  @ParameterizedTest
  @EnumSource
  void withoutSpaceATimedFormGivesUpAndSendsNothing(Way way) {
    for (Duration timeout :
        new Duration[] {Duration.ofMillis(1), Duration.ZERO, Duration.ofSeconds(-1)}) {
      Pair pair = smallPair();
      Numbers numbers = new Numbers(pair);
      numbers.fillUp();

      assertThatThrownBy(
              () -> {
                while (numbers.call(way, Form.TIMED, timeout)) {
                  idle();
                }
              })
          .isInstanceOf(OperationTimeoutException.class)
          .hasMessageContaining("the peer is not receiving");

      assertThat(numbers.sender.staged()).as("messages staged").isZero();
      receive(pair, 0, numbers.sent);
      expectNoMore(pair);
    }
  }

  @ParameterizedTest
  @EnumSource
  void withoutSpaceTheOtherFormsWaitForIt(Way way) {
    for (Form form : new Form[] {Form.WAITING, Form.TIMED}) {
      Pair pair = smallPair();
      Numbers numbers = new Numbers(pair);
      numbers.fillUp();
      long before = numbers.sent;
      Background<Boolean> sending =
          inBackground(
              "sender",
              () -> {
                for (int i = 0; i < 200; i++) {
                  assertThat(numbers.call(way, form, PATIENCE)).isTrue();
                }
                numbers.sender.flush();
                return true;
              });
      receive(pair, 0, before + 200);
      sending.result();
      expectNoMore(pair);
    }
  }

  @Test
  void aTryOrTimedFormWithoutSpaceSendsWhatIsStaged() {
    Pair pair = smallPair();
    Numbers numbers = new Numbers(pair);
    while (numbers.call(Way.STAGE, Form.TRYING, Duration.ZERO)) {
      idle();
    }

    assertThat(numbers.sender.staged()).isZero();
    receive(pair, 0, numbers.sent);
    expectNoMore(pair);
  }
}
