// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Constructor;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Predicate;

/**
 * A copy of Ferrule that finds only the providers that a test gives it, regardless of the rest of
 * the class path. So no {@code META-INF/services} file is needed, which would end up in the jar of
 * the contract tests.
 */
final class IsolatedFerrule extends ClassLoader {

  private static final String SERVICES = "META-INF/services/dev.ferrule.spi.ConnectionProvider";

  private final Predicate<String> own;
  private final Path services;

  private IsolatedFerrule(
      ClassLoader parent, Predicate<String> own, Path directory, List<String> providers) {
    super(parent);
    this.own = own;
    try {
      services = Files.write(Files.createTempFile(directory, "services", ""), providers);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns a Ferrule with the given providers, named by class, on its class path. */
  static IsolatedFerrule with(Path directory, String... providers) {
    return new IsolatedFerrule(
        IsolatedFerrule.class.getClassLoader(),
        name -> name.startsWith("dev.ferrule."),
        directory,
        List.of(providers));
  }

  /**
   * Returns a child class loader with more providers, such as that of an application in a server.
   */
  IsolatedFerrule application(Path directory, String... providers) {
    return new IsolatedFerrule(this, List.of(providers)::contains, directory, List.of(providers));
  }

  /** Runs code with this Ferrule, with this class loader as the thread's context class loader. */
  String run(Class<? extends Callable<String>> code) throws Exception {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(this);
    try {
      Constructor<?> constructor = loadClass(code.getName()).getDeclaredConstructor();
      constructor.setAccessible(true); // the JVM considers that class to be in another package
      return (String) ((Callable<?>) constructor.newInstance()).call();
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!own.test(name)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> known = findLoadedClass(name);
      return known == null ? define(name) : known;
    }
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    try (InputStream in =
        IsolatedFerrule.class
            .getClassLoader()
            .getResourceAsStream(name.replace('.', '/') + ".class")) {
      if (in == null) {
        throw new ClassNotFoundException(name);
      }
      byte[] bytes = in.readAllBytes();
      return defineClass(name, bytes, 0, bytes.length);
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }

  @Override
  public Enumeration<URL> getResources(String name) throws IOException {
    return name.equals(SERVICES)
        ? Collections.enumeration(List.of(servicesUrl()))
        : super.getResources(name);
  }

  private URL servicesUrl() throws MalformedURLException {
    return services.toUri().toURL();
  }
}
