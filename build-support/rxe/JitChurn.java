// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.CyclicBarrier;

/**
 * Makes HotSpot replace machine code that two threads execute: classes loaded repeatedly, call
 * sites with one more receiver type, assumptions that become invalid. Run by crash-soak.sh, with
 * Java 17, too. Arguments: how often the classes are loaded, rounds of each. Exit code 77: a wrong
 * result.
 */
public final class JitChurn {
  private static final int WRONG = 77;

  /** Loaded once, and therefore public; the other classes are loaded anew by each loader. */
  public interface Work {
    long run(int rounds);
  }

  interface Step {
    long apply(long value);
  }

  static final class Add implements Step {
    @Override
    public long apply(long value) {
      return value + 3;
    }
  }

  static final class Multiply implements Step {
    @Override
    public long apply(long value) {
      return value * 31 + 7;
    }
  }

  static final class Mix implements Step {
    @Override
    public long apply(long value) {
      return value ^ (value >>> 5);
    }
  }

  static final class Count implements Step {
    @Override
    public long apply(long value) {
      return value - Long.bitCount(value);
    }
  }

  /**
   * Each quarter of the rounds uses one more implementation of Step, which is loaded at that time.
   */
  public static final class Body implements Work {
    private final int[] array = new int[64];

    @Override
    public long run(int rounds) {
      long value = 1;
      for (int round = 0; round < rounds; round++) {
        int quarter = round * 4 / rounds;
        value = apply(step(quarter), value) + read(round % (quarter < 3 ? 64 : 65));
        if (round % 8 == 0) {
          value += text(value).hashCode();
        }
        array[round & 63] = (int) value;
      }
      return value;
    }

    private static Step step(int quarter) {
      switch (quarter) {
        case 0:
          return new Add();
        case 1:
          return new Multiply();
        case 2:
          return new Mix();
        default:
          return new Count();
      }
    }

    private static long apply(Step step, long value) {
      long result = value;
      for (int i = 0; i < 40; i++) {
        result = step.apply(result + i);
      }
      return result;
    }

    private long read(int index) {
      try {
        return array[index];
      } catch (ArrayIndexOutOfBoundsException e) {
        return -1;
      }
    }

    private static String text(long value) {
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < 4; i++) {
        text.append(value + i).append(',');
      }
      return text.toString();
    }
  }

  private static final class Loader extends ClassLoader {
    Loader() {
      super(JitChurn.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith("JitChurn$") || name.equals(Work.class.getName())) {
        return super.loadClass(name, resolve);
      }
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        return loaded != null ? loaded : define(name);
      }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
      try (InputStream in = JitChurn.class.getResourceAsStream(name + ".class")) {
        byte[] bytes = in.readAllBytes();
        return defineClass(name, bytes, 0, bytes.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }

  private JitChurn() {}

  public static void main(String[] arguments) throws Exception {
    int loads = Integer.parseInt(arguments[0]);
    int rounds = Integer.parseInt(arguments[1]);
    long expected = 0;
    for (int load = 0; load < loads; load++) {
      Class<?> body = new Loader().loadClass("JitChurn$Body", true);
      CyclicBarrier start = new CyclicBarrier(2);
      long[] results = new long[2];
      Thread[] threads = new Thread[2];
      for (int i = 0; i < threads.length; i++) {
        int index = i;
        threads[i] = new Thread(() -> results[index] = runOnce(body, start, rounds));
        threads[i].start();
      }
      for (Thread thread : threads) {
        thread.join();
      }
      expected = load == 0 ? results[0] : expected;
      if (results[0] != expected || results[1] != expected) {
        System.out.println(
            "WRONG: " + results[0] + " and " + results[1] + " instead of " + expected);
        System.exit(WRONG);
      }
    }
  }

  private static long runOnce(Class<?> body, CyclicBarrier start, int rounds) {
    try {
      Work work = (Work) body.getDeclaredConstructor().newInstance();
      start.await();
      return work.run(rounds);
    } catch (Exception e) {
      throw new IllegalStateException("a round failed", e);
    }
  }
}
