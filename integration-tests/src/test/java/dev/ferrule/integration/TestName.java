// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import org.junit.platform.engine.UniqueId;

/**
 * The name of a test as a user writes it: {@code SendRecvContractTest$Wait} and {@code
 * noWakeUpIsMissed}. The classes that JUnit names as sources do not distinguish the subclasses of a
 * class with nested tests, so the name is taken from the unique id.
 *
 * @param type the class without its package, and the nested classes; empty for an engine
 * @param method the method; empty for a class
 */
record TestName(String type, String method) {

  static TestName of(UniqueId id) {
    String type = "";
    String method = "";
    for (UniqueId.Segment segment : id.getSegments()) {
      String value = segment.getValue();
      switch (segment.getType()) {
        case "class" -> type = value.substring(value.lastIndexOf('.') + 1);
        case "nested-class" -> type += "$" + value;
        case "method", "test-template", "test-factory", "property" -> {
          String name = value.replaceFirst("\\(.*", "");
          method = name.substring(name.lastIndexOf('#') + 1);
        }
        default -> {} // an engine, or an invocation of the above
      }
    }
    return new TestName(type, method);
  }

  @Override
  public String toString() {
    return method.isEmpty() ? type : type + "#" + method;
  }
}
