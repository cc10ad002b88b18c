// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * Summarizes a run of ./test: the slowest classes, the skipped tests and why, the flaky ones, the
 * failed ones, the failed parts, and the counts in the last line. Reads Surefire's reports of each
 * module that are newer than the run's folder, and the files PART/ATTEMPT/results.tsv in it, which
 * {@code ResultLog} writes, or PART/skipped, which has the reason. Writes target/flaky-tests.txt.
 * Exits with 1 if a part or a test failed, if more than {@value #FLAKY_LIMIT} tests were flaky, if
 * a test of a leak was flaky, or if none passed.
 *
 * <p>Arguments: the run's folder, and the names of the parts that failed.
 */
class TestReport {

  /** More flaky tests than this cannot be due to chance. Also in console-tests.sh. */
  static final int FLAKY_LIMIT = 3;

  static final int SLOWEST = 10;

  enum Outcome {
    PASSED,
    FLAKY,
    FAILED,
    SKIPPED
  }

  /** A test; the message is that of its first failure, or empty. */
  record Test(String part, String name, long millis, Outcome outcome, String message) {

    String label() {
      return part + ": " + name + (message.isEmpty() ? "" : ": " + message);
    }

    Test with(Outcome other) {
      return new Test(part, name, millis, other, message);
    }

    /** A leak that does not show each time is a leak. The name of its test or the message contains "leak". */
    boolean isLeak() {
      return (name + message).toLowerCase(Locale.ROOT).contains("leak");
    }
  }

  public static void main(String[] arguments) throws Exception {
    Path run = Path.of(arguments[0]);
    List<Test> tests = new ArrayList<>();
    FileTime start = Files.getLastModifiedTime(run.resolve("started"));
    for (Path report : files(Path.of(""), "glob:*/target/surefire-reports/TEST-*.xml", 4)) {
      if (Files.getLastModifiedTime(report).compareTo(start) >= 0) {
        tests.addAll(ofSurefire(report));
      }
    }
    String skippedParts = "";
    try (Stream<Path> parts = Files.list(run)) {
      for (Path part : parts.filter(Files::isDirectory).sorted().toList()) {
        Path reason = part.resolve("skipped");
        if (Files.exists(reason)) {
          skippedParts += "; all of %s skipped: %s".formatted(part.getFileName(), Files.readString(reason).strip());
        } else {
          tests.addAll(ofPart(part));
        }
      }
    }

    printSlowest(tests);
    print("Skipped tests", with(tests, Outcome.SKIPPED));
    List<Test> flaky = with(tests, Outcome.FLAKY);
    print("Flaky tests, which passed when they were repeated", flaky);
    Files.write(Path.of("target", "flaky-tests.txt"), flaky.stream().map(Test::label).toList());
    List<Test> failed = with(tests, Outcome.FAILED);
    print("Failed tests", failed);
    List<Test> leaks = flaky.stream().filter(Test::isLeak).toList();
    print("Leaks, which are failures even if a repetition has none", leaks);
    if (flaky.size() > FLAKY_LIMIT) {
      System.out.println("More than " + FLAKY_LIMIT + " flaky tests are a failure.");
    }
    List<String> failedParts = List.of(arguments).subList(1, arguments.length);
    if (!failedParts.isEmpty()) {
      System.out.println("Failed parts: " + String.join(", ", failedParts));
    }
    long skipped = with(tests, Outcome.SKIPPED).size();
    long passed = tests.size() - failed.size() - skipped;
    if (passed == 0) {
      System.out.println("No test has passed; if none ran, check the names given by -Dtest or --tests.");
    }
    System.out.println(
        passed + " passed, " + failed.size() + " failed, " + skipped + " skipped" + skippedParts);
    boolean isGreen =
        failedParts.isEmpty()
            && failed.isEmpty()
            && leaks.isEmpty()
            && flaky.size() <= FLAKY_LIMIT
            && passed > 0;
    System.exit(isGreen ? 0 : 1);
  }

  private static List<Path> files(Path folder, String pattern, int depth) throws IOException {
    PathMatcher matcher = FileSystems.getDefault().getPathMatcher(pattern);
    try (Stream<Path> files = Files.walk(folder, depth)) {
      return files.filter(matcher::matches).sorted().toList();
    }
  }

  /** Reads a report of Surefire, which counts a test that passed when repeated as flaky itself. */
  private static List<Test> ofSurefire(Path report) throws Exception {
    DocumentBuilder parser = DocumentBuilderFactory.newDefaultInstance().newDocumentBuilder();
    String module = report.getName(0).toString();
    List<Test> tests = new ArrayList<>();
    NodeList cases;
    try {
      cases = parser.parse(report.toFile()).getElementsByTagName("testcase");
    } catch (SAXException e) {
      tests.add(new Test(module, report.getFileName().toString(), 0, Outcome.FAILED, "cut off"));
      return tests;
    }
    for (int i = 0; i < cases.getLength(); i++) {
      Element test = (Element) cases.item(i);
      Outcome outcome = Outcome.PASSED;
      String message = "";
      for (String tag : List.of("failure", "error", "flakyFailure", "flakyError", "skipped")) {
        NodeList found = test.getElementsByTagName(tag);
        if (found.getLength() > 0) {
          message = ((Element) found.item(0)).getAttribute("message").replaceAll("\\s+", " ");
          outcome =
              tag.equals("skipped")
                  ? Outcome.SKIPPED
                  : tag.startsWith("flaky") ? Outcome.FLAKY : Outcome.FAILED;
          break;
        }
      }
      String time = test.getAttribute("time").replace(",", "");
      long millis = time.isEmpty() ? 0 : Math.round(Double.parseDouble(time) * 1000);
      tests.add(
          new Test(
              module,
              test.getAttribute("classname").replaceFirst("^.*\\.", "") + "#" + test.getAttribute("name"),
              millis,
              outcome,
              message));
    }
    return tests;
  }

  /**
   * Reads the results of a part's attempts, of which each repeats only what failed in the one
   * before. What failed and does not fail in the last one is flaky, unless that one's JVM ended
   * before it had passed.
   */
  private static List<Test> ofPart(Path part) throws IOException {
    String name = part.getFileName().toString();
    Map<String, Test> tests = new LinkedHashMap<>();
    Set<String> failed = new LinkedHashSet<>();
    boolean isComplete = false;
    for (Path attempt : files(part, "glob:**/results.tsv", 2)) {
      isComplete = false;
      Set<String> repeated = Set.copyOf(failed);
      failed.clear();
      Set<String> passed = new HashSet<>();
      // a file that is cut off may end within a character
      for (String line : new String(Files.readAllBytes(attempt), StandardCharsets.UTF_8).split("\n")) {
        if (line.equals("ENDED")) {
          isComplete = true;
          continue;
        }
        String[] fields = line.split("\t", -1);
        if (fields.length < 5) {
          continue; // cut off, as the JVM was killed
        }
        Outcome outcome =
            switch (fields[0]) {
              case "FAILED" -> Outcome.FLAKY;
              case "SUCCESSFUL" -> Outcome.PASSED;
              default -> Outcome.SKIPPED;
            };
        Test test =
            new Test(
                name,
                fields[2],
                Long.parseLong(fields[1]),
                outcome,
                fields[4]);
        tests.putIfAbsent(fields[3], test);
        // a test that failed, and is skipped when it is repeated, has not passed
        if (outcome == Outcome.FLAKY || outcome == Outcome.SKIPPED && repeated.contains(fields[3])) {
          failed.add(fields[3]);
        } else {
          passed.add(fields[3]);
        }
      }
      if (!isComplete) {
        repeated.stream().filter(id -> !passed.contains(id)).forEach(failed::add);
      }
    }
    failed.forEach(id -> tests.computeIfPresent(id, (key, test) -> test.with(Outcome.FAILED)));
    List<Test> all = new ArrayList<>(tests.values());
    if (!isComplete) {
      all.add(new Test(name, "the JVM ended before its tests", 0, Outcome.FAILED, ""));
    }
    return all;
  }

  private static void printSlowest(List<Test> tests) {
    Map<String, Long> millis = new TreeMap<>();
    for (Test test : tests) {
      String type = test.name().replaceFirst("[$#].*", "");
      millis.merge(test.part() + ": " + type, test.millis(), Long::sum);
    }
    System.out.println("Slowest test classes:");
    millis.entrySet().stream()
        .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
        .limit(SLOWEST)
        .forEach(
            entry ->
                System.out.printf(
                    Locale.ROOT, "%8.1f s  %s%n", entry.getValue() / 1e3, entry.getKey()));
  }

  private static void print(String title, List<Test> tests) {
    if (!tests.isEmpty()) {
      System.out.println(title + ": " + tests.size());
      tests.forEach(test -> System.out.println("  " + test.label()));
    }
  }

  private static List<Test> with(List<Test> tests, Outcome outcome) {
    return tests.stream().filter(test -> test.outcome() == outcome).toList();
  }
}
