// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.hipparchus.linear.Array2DRowRealMatrix;
import org.hipparchus.linear.RealMatrix;
import org.hipparchus.linear.SingularValueDecomposition;

/**
 * Says how well the best point of a fit is known. A direction in which the parameters can go
 * without any prediction moving is one that the measurements say nothing about: a parameter on its
 * own in such a direction is only bounded, and several of them cannot be told apart.
 */
final class FitReading {

  /** If e times a parameter moves all predictions by no more than this, it has no say. */
  private static final double NO_SAY = 0.02;

  /** A direction that is known to a factor of 2 or worse is not known. */
  private static final double UNKNOWN = Math.log(2);

  /** So big a part in an unknown direction makes a parameter one of those that it mixes. */
  private static final double PART = 0.25;

  /** A sum is known if it hardly changes along the unknown directions. */
  private static final double SUM_MOVES = 0.05;

  /** No fit is better than the clock and the noise allow. */
  private static final double LEAST_DEVIATION = 0.01;

  /** What sums of squares differ by at least, as a part of them. */
  private static final double SAME = 1e-9;

  private final FitProblem problem;
  private final List<Parameter> free;
  private final Map<Parameter, Estimate> timed;
  private final Map<Parameter, Estimate> estimates;
  private final List<String> notes;

  FitReading(FitProblem problem, Map<Parameter, Estimate> timed, List<String> notes) {
    this.problem = problem;
    this.free = problem.free();
    this.timed = timed;
    this.estimates = new EnumMap<>(Parameter.class);
    this.estimates.putAll(timed);
    this.notes = new ArrayList<>(notes);
  }

  FitResult read(double[] best) {
    double[][] jacobian = FitProblem.jacobian(best, problem::residuals);
    Profile profile = profile(best);
    List<Integer> heard = new ArrayList<>();
    for (int i = 0; i < best.length; i++) {
      if (norm(jacobian, i) >= NO_SAY) {
        heard.add(i);
      } else {
        bound(profile, best, i);
      }
    }
    if (!heard.isEmpty()) {
      readHeard(profile, best, jacobian, heard);
    }
    exchangeCards();
    double error = Math.sqrt(problem.squares(best) / problem.observations().size());
    return new FitResult(
        problem.model(estimates), Map.copyOf(estimates), error, List.copyOf(notes));
  }

  /**
   * Between one sender and one receiver the two cards are alike in every formula, so whatever was
   * found for one may as well be the other's. That the receiver's is the slower one is the safe
   * guess, as it is the one that many senders share.
   */
  private void exchangeCards() {
    Estimate sending = estimates.get(Parameter.SEND_NIC);
    Estimate receiving = estimates.get(Parameter.RECEIVE_NIC);
    Estimate greater = sending.value() > receiving.value() ? sending : receiving;
    Estimate lesser = greater == sending ? receiving : sending;
    if (sending.source() != Estimate.Source.FITTED
        && receiving.source() != Estimate.Source.FITTED) {
      return; // what is not known has been said
    }
    Estimate known = greater.source() == Estimate.Source.FITTED ? greater : lesser;
    String note =
        "one of o_nsnd and o_nrcv is "
            + nanos(known)
            + ", the other "
            + described(known == greater ? lesser : greater)
            + "; one sender and one receiver cannot show which";
    List.of(Parameter.SEND_NIC, Parameter.RECEIVE_NIC).forEach(card -> notes.remove(alone(card)));
    notes.add(note);
    estimates.put(Parameter.RECEIVE_NIC, as(Parameter.RECEIVE_NIC, greater, note));
    estimates.put(Parameter.SEND_NIC, as(Parameter.SEND_NIC, lesser, note));
  }

  private static String alone(Parameter parameter) {
    return parameter.symbol() + " is not known: its share in what was measured is too small";
  }

  private static String described(Estimate estimate) {
    return switch (estimate.source()) {
      case AT_MOST ->
          String.format(Locale.ROOT, "at most %.3g ns", estimate.high().orElse(estimate.value()));
      case TOGETHER -> "not known by itself";
      default -> nanos(estimate);
    };
  }

  private static String nanos(Estimate estimate) {
    return String.format(Locale.ROOT, "%.3g ns", estimate.value());
  }

  private static Estimate as(Parameter parameter, Estimate other, String note) {
    return new Estimate(
        parameter,
        other.value(),
        other.standardError(),
        other.low(),
        other.high(),
        other.source() == Estimate.Source.FITTED ? Estimate.Source.TOGETHER : other.source(),
        note);
  }

  private static double norm(double[][] jacobian, int column) {
    return Math.sqrt(Arrays.stream(jacobian).mapToDouble(row -> row[column] * row[column]).sum());
  }

  /** How far off a measurement is, typically, that takes part in a fit of so many parameters. */
  private double deviation(double[] best, int freedom) {
    return Math.max(LEAST_DEVIATION, Math.sqrt(problem.squares(best) / freedom));
  }

  private int freedom(int parameters) {
    return Math.max(1, problem.observations().size() - parameters);
  }

  /** Leaves room for the timed parameters to be off, too. */
  private Profile profile(double[] best) {
    int freedom = freedom(best.length);
    double worse = Confidence.factor(freedom) * deviation(best, freedom);
    FitProblem relaxed = problem.relaxed(timed.values(), worse);
    return new Profile(relaxed, relaxed.extended(best), worse);
  }

  /**
   * Looks how big a parameter may be that leaves no trace, or, if there is no such bound, how
   * small: a doorbell shows as long as it is less than the whole of which it is a part.
   */
  private void bound(Profile profile, double[] best, int index) {
    Parameter parameter = free.get(index);
    double most = profile.most(index);
    double least = most < Descent.MOST_LOG ? Descent.LEAST_LOG : profile.least(index);
    if (most < Descent.MOST_LOG) {
      OptionalDouble high = OptionalDouble.of(Math.exp(most));
      String note = "it may be anything up to there, if other stages take less for it";
      bounded(best, index, OptionalDouble.of(0), high, Estimate.Source.AT_MOST, note);
    } else if (least > Descent.LEAST_LOG) {
      OptionalDouble low = OptionalDouble.of(Math.exp(least));
      String note = "it may be anything from there on";
      bounded(best, index, low, OptionalDouble.empty(), Estimate.Source.AT_LEAST, note);
    } else {
      unbounded(best, index);
    }
  }

  /** Nothing is as good a value as any, unless the best point makes some use of the parameter. */
  private void unbounded(double[] best, int index) {
    double[] without = best.clone();
    without[index] = Descent.LEAST_LOG;
    boolean unused = problem.squares(without) <= problem.squares(best) * (1 + SAME);
    String note =
        unused
            ? "no measurement depends on it; 0 is assumed"
            : "it may be anything: what depends on it is less than the noise";
    Parameter parameter = free.get(index);
    double value = unused ? 0 : Math.exp(best[index]);
    estimates.put(parameter, Estimate.bare(parameter, value, Estimate.Source.TOGETHER, note));
    notes.add(parameter.symbol() + ": " + note);
  }

  private void bounded(
      double[] best,
      int index,
      OptionalDouble low,
      OptionalDouble high,
      Estimate.Source source,
      String note) {
    Parameter parameter = free.get(index);
    double value = Math.exp(best[index]);
    estimates.put(
        parameter, new Estimate(parameter, value, OptionalDouble.empty(), low, high, source, note));
  }

  private void readHeard(Profile profile, double[] best, double[][] jacobian, List<Integer> heard) {
    // with fewer rows than columns the decomposition would leave directions out
    RealMatrix columns =
        new Array2DRowRealMatrix(Math.max(jacobian.length, heard.size()), heard.size());
    for (int row = 0; row < jacobian.length; row++) {
      for (int i = 0; i < heard.size(); i++) {
        columns.setEntry(row, i, jacobian[row][heard.get(i)]);
      }
    }
    int freedom = freedom(heard.size());
    double deviation = deviation(best, freedom);
    SingularValueDecomposition directions = new SingularValueDecomposition(columns);
    double[] singular = directions.getSingularValues();
    List<double[]> unknown = new ArrayList<>();
    List<TreeSet<Integer>> groups = new ArrayList<>();
    for (int direction = 0; direction < heard.size(); direction++) {
      double[] parts = directions.getV().getColumn(direction);
      double value = direction < singular.length ? singular[direction] : 0;
      double spread = value == 0 ? Double.POSITIVE_INFINITY : deviation / value;
      if (spread > UNKNOWN) {
        unknown.add(parts);
        groups.add(members(parts));
      }
    }
    Set<Integer> vague = groups.stream().flatMap(Set::stream).collect(Collectors.toSet());
    for (int i = 0; i < heard.size(); i++) {
      if (!vague.contains(i)) {
        fitted(profile, best, heard.get(i), freedom);
      }
    }
    for (TreeSet<Integer> group : merged(groups)) {
      tellTogether(best, heard, group, unknown);
    }
  }

  private void fitted(Profile profile, double[] best, int index, int freedom) {
    double least = profile.least(index);
    double low = least == Descent.LEAST_LOG ? 0 : Math.exp(least);
    double high = Math.exp(profile.most(index));
    estimates.put(
        free.get(index),
        new Estimate(
            free.get(index),
            Math.exp(best[index]),
            OptionalDouble.of((high - low) / 2 / Confidence.factor(freedom)),
            OptionalDouble.of(low),
            OptionalDouble.of(high),
            Estimate.Source.FITTED,
            ""));
  }

  private static TreeSet<Integer> members(double[] parts) {
    TreeSet<Integer> members = new TreeSet<>();
    for (int i = 0; i < parts.length; i++) {
      if (Math.abs(parts[i]) > PART) {
        members.add(i);
      }
    }
    return members;
  }

  /** Groups that share a parameter are one. */
  private static List<TreeSet<Integer>> merged(List<TreeSet<Integer>> groups) {
    List<TreeSet<Integer>> merged = new ArrayList<>();
    for (TreeSet<Integer> group : groups) {
      TreeSet<Integer> whole = new TreeSet<>(group);
      merged.removeIf(
          other -> {
            boolean common = other.stream().anyMatch(whole::contains);
            if (common) {
              whole.addAll(other);
            }
            return common;
          });
      merged.add(whole);
    }
    return merged;
  }

  private void tellTogether(
      double[] best, List<Integer> heard, TreeSet<Integer> group, List<double[]> unknown) {
    double sum = group.stream().mapToDouble(i -> Math.exp(best[heard.get(i)])).sum();
    double moves = 0;
    for (double[] direction : unknown) {
      double move =
          group.stream().mapToDouble(i -> Math.exp(best[heard.get(i)]) / sum * direction[i]).sum();
      moves = Math.max(moves, Math.abs(move));
    }
    List<Parameter> parameters = group.stream().map(i -> free.get(heard.get(i))).toList();
    List<String> units = parameters.stream().map(Parameter::unit).distinct().toList();
    boolean sumIsKnown = moves < SUM_MOVES && units.size() == 1;
    String names =
        parameters.stream()
            .map(Parameter::symbol)
            .collect(Collectors.joining(sumIsKnown ? " + " : ", "));
    String note;
    if (parameters.size() == 1) {
      note = alone(parameters.get(0));
    } else if (sumIsKnown) {
      note =
          "only "
              + names
              + " = "
              + String.format(Locale.ROOT, "%.3g", sum)
              + " "
              + units.get(0)
              + " is known; the measurements cannot tell them apart";
    } else {
      note = "the measurements cannot tell " + names + " apart";
    }
    notes.add(note);
    for (int i : group) {
      Parameter parameter = free.get(heard.get(i));
      double value = Math.exp(best[heard.get(i)]);
      estimates.put(parameter, Estimate.bare(parameter, value, Estimate.Source.TOGETHER, note));
    }
  }
}
