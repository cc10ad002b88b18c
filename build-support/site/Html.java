// SPDX-License-Identifier: Apache-2.0
class Html {

  private Html() {}

  /** Returns text as it is written in an element or in an attribute in double quotes. */
  static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
