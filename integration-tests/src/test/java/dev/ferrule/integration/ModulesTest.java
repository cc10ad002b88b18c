// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static java.util.stream.Collectors.toUnmodifiableMap;
import static java.util.stream.Collectors.toUnmodifiableSet;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.spi.ConnectionProvider;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReader;
import java.lang.module.ModuleReference;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the exports of the module descriptors, and that both paths have the same providers. */
class ModulesTest {
  private static final Map<String, ModuleReference> MODULES = findModules();
  private static final Set<String> GENERATED =
      Set.of(
          "dev.ferrule.posix.libc", "dev.ferrule.verbs.libibverbs", "dev.ferrule.verbs.librdmacm");

  private static Map<String, ModuleReference> findModules() {
    // The tests run on the class path, whose entries can be read as modules as well.
    Path[] path =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .map(Path::of)
            .filter(p -> p.getFileName().toString().startsWith("ferrule-") || p.endsWith("classes"))
            .toArray(Path[]::new);
    return ModuleFinder.of(path).findAll().stream()
        .filter(module -> !module.descriptor().isAutomatic())
        .collect(toUnmodifiableMap(module -> module.descriptor().name(), module -> module));
  }

  private static ModuleDescriptor descriptor(String module) {
    assertThat(MODULES).containsKey(module);
    return MODULES.get(module).descriptor();
  }

  @Test
  void everyArtifactIsAModule() {
    assertThat(MODULES)
        .containsOnlyKeys(
            "dev.ferrule",
            "dev.ferrule.contract",
            "dev.ferrule.magicring",
            "dev.ferrule.micrometer",
            "dev.ferrule.posix",
            "dev.ferrule.rdma",
            "dev.ferrule.sendrecv",
            "dev.ferrule.sm",
            "dev.ferrule.support",
            "dev.ferrule.tools",
            "dev.ferrule.verbs");
  }

  @Test
  void apiExportsTheApiAndTheProviderInterfaceToAll() {
    assertThat(descriptor("dev.ferrule").exports())
        .noneMatch(ModuleDescriptor.Exports::isQualified)
        .extracting(ModuleDescriptor.Exports::source)
        .containsExactlyInAnyOrder("dev.ferrule", "dev.ferrule.spi");
  }

  @ParameterizedTest
  @ValueSource(strings = {"dev.ferrule.posix", "dev.ferrule.support", "dev.ferrule.rdma"})
  void internalPackagesAreExportedToFerruleOnly(String module) {
    assertThat(descriptor(module).exports())
        .isNotEmpty()
        .allMatch(ModuleDescriptor.Exports::isQualified)
        .flatExtracting(ModuleDescriptor.Exports::targets)
        .allMatch(target -> target.startsWith("dev.ferrule."));
  }

  @Test
  void generatedBindingsAreExportedToNoModule() {
    assertThat(MODULES.values())
        .flatExtracting(module -> module.descriptor().packages())
        .containsAll(GENERATED);
    assertThat(MODULES.values())
        .flatExtracting(module -> module.descriptor().exports())
        .extracting(ModuleDescriptor.Exports::source)
        .doesNotContainAnyElementsOf(GENERATED);
  }

  @ParameterizedTest
  @ValueSource(strings = {"dev.ferrule.sendrecv", "dev.ferrule.magicring", "dev.ferrule.sm"})
  void providerExportsNothing(String module) {
    assertThat(descriptor(module).exports()).isEmpty();
  }

  static Set<String> moduleNames() {
    return MODULES.keySet();
  }

  @ParameterizedTest
  @MethodSource("moduleNames")
  void classPathFindsTheProvidersThatTheModulePathFinds(String module) throws IOException {
    String service = ConnectionProvider.class.getName();
    Set<String> provided =
        descriptor(module).provides().stream()
            .filter(provides -> provides.service().equals(service))
            .flatMap(provides -> provides.providers().stream())
            .collect(toUnmodifiableSet());
    assertThat(servicesFile(MODULES.get(module), service)).isEqualTo(provided);
  }

  private static Set<String> servicesFile(ModuleReference module, String service)
      throws IOException {
    try (ModuleReader reader = module.open()) {
      return reader.open("META-INF/services/" + service).stream()
          .flatMap(in -> {
            try (in) {
              return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines();
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          })
          .collect(Collectors.toSet());
    }
  }
}
