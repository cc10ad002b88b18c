// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ferrule.verbs.VerbsException;
import dev.ferrule.verbs.cm.ConnectionParameters;
import java.nio.charset.StandardCharsets;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The reason of a rejection, shortened so that the fix reaches the client. */
class ReasonTest {

  private static final int LIMIT = HelloFormat.LEAST_REASON;

  private static String shortened(String reason) {
    byte[] bytes = Reason.shortened(reason, LIMIT);
    assertThat(bytes).hasSizeLessThanOrEqualTo(LIMIT);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  @Test
  void aReasonThatFitsIsUnchanged() {
    String longest = "x".repeat(LIMIT - 5) + "; fix";

    assertThat(shortened(longest)).isEqualTo(longest);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {RdmaListener.CLOSED, RdmaListener.BACKLOG_FULL, RdmaConnectionRequest.STRANGER})
  void theFixedReasonsFit(String reason) {
    assertThat(shortened(reason)).isEqualTo(reason);
  }

  @Test
  void theFixIsKeptAndWordsBeforeItAreCut() {
    assertThat(
            shortened(
                "mmap(1099511627776 bytes): Cannot allocate memory (errno 12); the system has"
                    + " 8123456789 bytes available; use smaller values of receives or maxMessage"))
        .isEqualTo(
            "mmap(1099511627776 bytes): Cannot allocate memory (errno 12); the ...; use smaller"
                + " values of receives or maxMessage");
  }

  @Test
  void aReasonWithoutAFixIsCutAtTheEndOfAWord() {
    assertThat(shortened("word ".repeat(100))).endsWith("word ...").startsWith("word word");
  }

  @Test
  void aFixThatIsTooLongItselfKeepsItsStart() {
    assertThat(shortened("function: failed; start the " + "ö".repeat(20) + " again".repeat(30)))
        .startsWith("start the ö")
        .endsWith(" again ...");
  }

  @Test
  void aReasonOfOneWordThatIsTooLongIsLeftOut() {
    assertThat(shortened("x".repeat(500))).isEqualTo(" ...");
  }

  @Test
  void noCharacterIsCut() {
    for (int length = 0; length < 8; length++) {
      String text = "x".repeat(length) + " \uD83D\uDE00".repeat(60);
      assertThat(shortened(text)).doesNotContain("\uFFFD").endsWith("\uD83D\uDE00 ...");
    }
  }

  /** The C functions that a listener calls to accept a client. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "ibv_alloc_pd",
        "ibv_create_comp_channel",
        "ibv_create_cq",
        "ibv_create_srq",
        "ibv_modify_qp",
        "ibv_post_recv",
        "ibv_post_srq_recv",
        "ibv_query_device",
        "ibv_reg_mr",
        "ibv_reg_mr_iova2",
        "rdma_accept",
        "rdma_create_qp",
      })
  void theNameOfEveryFunctionAndItsWholeAdviceFit(String function) {
    IntStream.rangeClosed(1, 133)
        .forEach(errno -> {
          VerbsException failure = new VerbsException(function, "x".repeat(200), errno);
          String message = String.valueOf(failure.getMessage());
          assertThat(shortened(message))
              .startsWith(function + " ...; ")
              .endsWith(message.substring(message.lastIndexOf("; ")));
        });
  }

  @Test
  void aProtocolWithoutSpaceForAReasonIsAnError() {
    int longest = ConnectionParameters.MAX_REJECT_DATA - LIMIT - 12;

    assertThat(new HelloFormat(1, 1, longest, (kind, body) -> true).maxReason()).isEqualTo(LIMIT);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new HelloFormat(1, 1, longest + 1, (kind, body) -> true));
  }
}
