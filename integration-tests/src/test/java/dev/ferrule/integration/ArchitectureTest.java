// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The layers: api ← provider support ← rdma ← the RDMA providers; posix ← verbs ← rdma; posix ← the
 * RDMA providers; provider support and posix ← sm; api ← contract; api ← micrometer. The module
 * descriptors state most of this as well, but only for the module path, and a forbidden {@code
 * requires} is easily added.
 */
class ArchitectureTest {
  private static final JavaClasses FERRULE =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .withImportOption(location -> !location.contains("-tests.jar"))
          .importPackages("dev.ferrule");

  private static final DescribedPredicate<JavaClass> BINDINGS =
      resideInAnyPackage(
              "dev.ferrule.posix.libc",
              "dev.ferrule.verbs.libibverbs",
              "dev.ferrule.verbs.librdmacm")
          .as("the bindings");
  private static final Pattern C_HEADER = Pattern.compile(".*\\.(LibC|Verbs|RdmaCm)(\\$.*)?");
  private static final Pattern C_FUNCTION = Pattern.compile("_*[a-z].*");

  /** Methods that need --enable-native-access for the caller's module. */
  private static final Set<String> RESTRICTED =
      Set.of(
          "java.lang.Runtime.load",
          "java.lang.Runtime.loadLibrary",
          "java.lang.System.load",
          "java.lang.System.loadLibrary",
          "java.lang.foreign.AddressLayout.withTargetLayout",
          "java.lang.foreign.Linker.downcallHandle",
          "java.lang.foreign.Linker.upcallStub",
          "java.lang.foreign.MemorySegment.reinterpret",
          "java.lang.foreign.SymbolLookup.libraryLookup");

  private static final DescribedPredicate<JavaClass> POSIX =
      resideInAPackage("dev.ferrule.posix..").as("posix");
  private static final DescribedPredicate<JavaClass> VERBS =
      resideInAPackage("dev.ferrule.verbs..").as("verbs");
  private static final DescribedPredicate<JavaClass> RDMA =
      resideInAPackage("dev.ferrule.rdma..").as("what the RDMA providers share");
  private static final DescribedPredicate<JavaClass> SUPPORT =
      resideInAPackage("dev.ferrule.support..").as("provider support");
  private static final DescribedPredicate<JavaClass> SENDRECV =
      resideInAPackage("dev.ferrule.sendrecv..").as("provider sendrecv");
  private static final DescribedPredicate<JavaClass> MAGICRING =
      resideInAPackage("dev.ferrule.magicring..").as("provider magicring");
  private static final DescribedPredicate<JavaClass> SM =
      resideInAPackage("dev.ferrule.sm..").as("provider sm");
  private static final DescribedPredicate<JavaClass> PROVIDERS =
      SENDRECV.or(MAGICRING).or(SM).as("the providers");
  private static final DescribedPredicate<JavaClass> TOOLS =
      resideInAPackage("dev.ferrule.tools..").as("the tools");
  private static final DescribedPredicate<JavaClass> LAB =
      resideInAPackage("dev.ferrule.lab..").as("the lab");
  private static final DescribedPredicate<JavaClass> CONTRACT =
      resideInAPackage("dev.ferrule.contract..").as("the contract");
  private static final DescribedPredicate<JavaClass> MICROMETER =
      resideInAPackage("dev.ferrule.micrometer..").as("the binding to Micrometer");
  private static final DescribedPredicate<JavaClass> TEST_LIBRARIES =
      resideInAnyPackage("org.junit.jupiter..", "org.assertj..").as("JUnit and AssertJ");
  private static final DescribedPredicate<JavaClass> API =
      resideInAnyPackage("dev.ferrule", "dev.ferrule.spi").as("the API");
  private static final DescribedPredicate<JavaClass> JAVA =
      resideInAnyPackage("java..", "javax..", "jdk..", "org.jspecify..").as("Java or JSpecify");
  private static final DescribedPredicate<JavaClass> AUTO_SERVICE =
      resideInAPackage("com.google.auto.service").as("AutoService");

  @Test
  void apiDependsOnNothingButJavaAndJSpecify() {
    classes().that(API).should().onlyDependOnClassesThat(API.or(JAVA)).check(FERRULE);
  }

  @Test
  void theContractDependsOnTheApiAndOnNoProvider() {
    classes()
        .that(CONTRACT)
        .should()
        .onlyDependOnClassesThat(
            CONTRACT
                .or(resideInAPackage("dev.ferrule"))
                .or(JAVA)
                .or(TEST_LIBRARIES)
                .or(resideInAPackage("com.sun.management")))
        .check(FERRULE);
  }

  @Test
  void micrometerIsUsedByItsBindingAloneWhichDependsOnTheApi() {
    DescribedPredicate<JavaClass> library = resideInAPackage("io.micrometer..").as("Micrometer");
    classes()
        .that(MICROMETER)
        .should()
        .onlyDependOnClassesThat(
            MICROMETER.or(library).or(resideInAPackage("dev.ferrule")).or(JAVA))
        .check(FERRULE);
    noClasses()
        .that(not(MICROMETER))
        .should()
        .dependOnClassesThat(MICROMETER.or(library))
        .check(FERRULE);
  }

  @Test
  void onlyTestsDependOnTheContract() {
    noClasses()
        .that(DescribedPredicate.not(CONTRACT))
        .should()
        .dependOnClassesThat(CONTRACT)
        .check(FERRULE);
  }

  @Test
  void bindingsDependOnNothingButJava() {
    classes().that(BINDINGS).should().onlyDependOnClassesThat(BINDINGS.or(JAVA)).check(FERRULE);
  }

  @Test
  void supportDependsOnTheApiOnly() {
    classes()
        .that(SUPPORT)
        .should()
        .onlyDependOnClassesThat(SUPPORT.or(API).or(JAVA))
        .check(FERRULE);
  }

  @Test
  void onlyPosixAndVerbsUseTheBindings() {
    noClasses()
        .that(DescribedPredicate.not(BINDINGS.or(POSIX).or(VERBS)))
        .should()
        .dependOnClassesThat(BINDINGS)
        .check(FERRULE);
  }

  @Test
  void posixDependsOnNothingButJava() {
    classes().that(POSIX).should().onlyDependOnClassesThat(POSIX.or(JAVA)).check(FERRULE);
  }

  /**
   * The bindings are used only for constants and layouts. A function is recognized by its name:
   * that of a constant begins with a capital.
   */
  @Test
  void cFunctionsAreNotCalledThroughTheBindings() {
    noClasses()
        .that(DescribedPredicate.not(BINDINGS))
        .should()
        .accessTargetWhere(
            describe(
                "a function in the bindings is called",
                call ->
                    C_HEADER.matcher(call.getTargetOwner().getName()).matches()
                        && BINDINGS.test(call.getTargetOwner())
                        && C_FUNCTION.matcher(call.getName()).matches()))
        .check(FERRULE);
  }

  /**
   * Two exceptions: the data path of verbs links the functions of the device's driver itself, and
   * the contract calls poll(2) as a program would.
   */
  @Test
  void onlyPosixLinksCFunctions() {
    noClasses()
        .that(DescribedPredicate.not(BINDINGS.or(POSIX).or(CONTRACT)))
        .and()
        .doNotHaveFullyQualifiedName("dev.ferrule.verbs.calls.NativeVerbsCalls")
        .should()
        .dependOnClassesThat()
        .haveFullyQualifiedName("java.lang.foreign.Linker")
        .check(FERRULE);
  }

  /** Therefore {@code --enable-native-access} names only these two modules. */
  @Test
  void onlyPosixAndVerbsCallRestrictedMethods() {
    noClasses()
        .that(API.or(PROVIDERS).or(SUPPORT).or(RDMA).or(TOOLS))
        .should()
        .accessTargetWhere(
            describe(
                "a restricted method is called",
                call ->
                    RESTRICTED.contains(call.getTargetOwner().getName() + "." + call.getName())))
        .check(FERRULE);
  }

  @Test
  void verbsDependOnPosixOnly() {
    classes().that(VERBS).should().onlyDependOnClassesThat(VERBS.or(POSIX).or(JAVA)).check(FERRULE);
  }

  @Test
  void rdmaDependsOnNoProvider() {
    classes()
        .that(RDMA)
        .should()
        .onlyDependOnClassesThat(RDMA.or(VERBS).or(SUPPORT).or(API).or(POSIX).or(JAVA))
        .check(FERRULE);
  }

  @Test
  void rdmaProvidersDependOnRdmaAndNeverOnAnotherProvider() {
    DescribedPredicate<JavaClass> below =
        API.or(SUPPORT).or(POSIX).or(VERBS).or(RDMA).or(JAVA).or(AUTO_SERVICE);
    classes().that(SENDRECV).should().onlyDependOnClassesThat(SENDRECV.or(below)).check(FERRULE);
    classes().that(MAGICRING).should().onlyDependOnClassesThat(MAGICRING.or(below)).check(FERRULE);
  }

  @Test
  void smDependsOnSupportAndPosixAndNeverOnAnotherProvider() {
    classes()
        .that(SM)
        .should()
        .onlyDependOnClassesThat(SM.or(API).or(SUPPORT).or(POSIX).or(JAVA).or(AUTO_SERVICE))
        .check(FERRULE);
  }

  /** {@code parkNanos} returns at once in an interrupted thread, so a loop around it spins. */
  @Test
  void providersPauseWithoutInterrupts() {
    noClasses()
        .that(PROVIDERS.or(RDMA))
        .should()
        .callMethod(LockSupport.class, "parkNanos", long.class)
        .because("Threads.pause does not spin in an interrupted thread")
        .check(FERRULE);
  }

  @Test
  void toolsReachProvidersThroughTheApiOnly() {
    noClasses()
        .that(TOOLS)
        .should()
        .dependOnClassesThat(PROVIDERS.or(SUPPORT).or(RDMA).or(VERBS))
        .check(FERRULE);
  }

  @Test
  void theLabUsesNoProviderDirectlyAndNoModuleDependsOnIt() {
    noClasses()
        .that(LAB)
        .should()
        .dependOnClassesThat(PROVIDERS.or(SUPPORT).or(RDMA).or(VERBS))
        .check(FERRULE);
    noClasses().that(not(LAB)).should().dependOnClassesThat(LAB).check(FERRULE);
  }

  @Test
  void packagesHaveNoCycles() {
    slices().assignedFrom(new Packages()).should().beFreeOfCycles().check(FERRULE);
  }

  /** One slice per package, except that the API and its provider interface are one. */
  private static final class Packages implements SliceAssignment {
    @Override
    public SliceIdentifier getIdentifierOf(JavaClass javaClass) {
      // Ferrule.connect finds providers, and a provider creates connections: two sides of one API,
      // which are in two packages because they have different readers.
      String name = javaClass.getPackageName();
      return SliceIdentifier.of(name.equals("dev.ferrule.spi") ? "dev.ferrule" : name);
    }

    @Override
    public String getDescription() {
      return "packages";
    }
  }
}
