// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.net.InetSocketAddress;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The secret of an evaluation between two hosts. Also parses the address of its server. */
public final class TokenOption {

  private static final String VARIABLE = "FERRULE_TOKEN";
  private static final Pattern HOST_AND_PORT = Pattern.compile("\\[?([^\\[\\]]+?)\\]?:(\\d{1,5})");
  private static final int MAX_PORT = 65_535;

  @Option(
      names = "--token",
      paramLabel = "SECRET",
      description =
          "The secret of an evaluation between two hosts, of at least 8 characters, the same on"
              + " both. Default: the environment variable FERRULE_TOKEN, which other users of the"
              + " host do not see.")
  private @Nullable String secret;

  /** Called by picocli. */
  public TokenOption() {}

  /** {@return whether the option is given} */
  public boolean isSet() {
    return secret != null;
  }

  /**
   * {@return the secret: the value of the option or, without it, of the environment variable;
   * throws if neither is given}
   */
  public String required() {
    String text = secret != null ? secret : System.getenv(VARIABLE);
    if (text == null) {
      throw new ToolException(
          ExitCode.USAGE,
          "no token; set the same token on both hosts by --token or the variable " + VARIABLE);
    }
    return text;
  }

  /**
   * {@return the parsed and resolved address}
   *
   * @param option the option whose value is parsed
   * @param text host and port
   * @throws ToolException if the text is not a host and a port, or the host is unknown
   */
  public static InetSocketAddress address(String option, String text) {
    Matcher matcher = HOST_AND_PORT.matcher(text);
    if (!matcher.matches() || Integer.parseInt(matcher.group(2)) > MAX_PORT) {
      throw new ToolException(
          ExitCode.USAGE,
          option + " '" + text + "' is not a host and a port, such as 10.0.0.2:7470");
    }
    InetSocketAddress address =
        new InetSocketAddress(matcher.group(1), Integer.parseInt(matcher.group(2)));
    if (address.isUnresolved()) {
      throw new ToolException(
          ExitCode.USAGE,
          option
              + ": unknown host "
              + matcher.group(1)
              + "; check the name, or write its IP address");
    }
    return address;
  }
}
