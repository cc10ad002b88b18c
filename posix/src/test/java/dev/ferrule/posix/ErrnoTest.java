// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.posix.libc.LibC;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ErrnoTest {

  static Stream<Field> constants() {
    return Arrays.stream(Errno.class.getFields()).filter(f -> Modifier.isStatic(f.getModifiers()));
  }

  @ParameterizedTest
  @MethodSource("constants")
  void everyConstantHasTheValueOfTheCLibrary(Field constant) throws ReflectiveOperationException {
    assertThat(constant.get(null)).isEqualTo(LibC.class.getMethod(constant.getName()).invoke(null));
  }
}
