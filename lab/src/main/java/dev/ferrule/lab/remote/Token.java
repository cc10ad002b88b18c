// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.remote;

import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The secret that the two hosts of an evaluation share. It is not sent: the client proves that it
 * knows the secret by a keyed hash of a number that the server has chosen.
 */
public final class Token {

  private static final int LEAST = 8;
  private static final String HASH = "HmacSHA256";
  private static final int CHALLENGE_BYTES = 32;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final SecretKeySpec key;

  public Token(String secret) {
    if (secret.length() < LEAST) {
      throw new ToolException(
          ExitCode.USAGE,
          "a token of at least "
              + LEAST
              + " characters is needed, the same for both commands; create one with 'openssl rand -hex"
              + " 16'");
    }
    this.key = new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), HASH);
  }

  static String challenge() {
    byte[] bytes = new byte[CHALLENGE_BYTES];
    RANDOM.nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  String answer(String challenge) {
    try {
      Mac mac = Mac.getInstance(HASH);
      mac.init(key);
      byte[] text = ("ferrule evaluate " + challenge).getBytes(StandardCharsets.UTF_8);
      return HexFormat.of().formatHex(mac.doFinal(text));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("each JDK has " + HASH, e);
    }
  }

  /**
   * Returns whether an answer is correct. The time does not depend on which of its bytes are wrong.
   */
  boolean accepts(String challenge, String answer) {
    return MessageDigest.isEqual(
        answer(challenge).getBytes(StandardCharsets.UTF_8),
        answer.getBytes(StandardCharsets.UTF_8));
  }
}
