// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.hipparchus.linear.Array2DRowRealMatrix;
import org.hipparchus.linear.RealMatrix;
import org.hipparchus.linear.SingularValueDecomposition;

/**
 * Determines how well the best point of a fit is identified. A direction in which the parameters
 * can change without any effect on the predictions is undetermined: a single parameter in such a
 * direction is bounded or undetermined, and several of them are known only in combination.
 */
final class Identifiability {

  /**
   * A parameter, or a combination, has no effect if the norm of its derivative is less than this.
   */
  private static final double NO_EFFECT = 0.02;

  /** A direction that is known to a factor of 2 or worse is undetermined. */
  private static final double UNKNOWN = Math.log(2);

  /**
   * An undetermined direction combines the parameters whose components in it are greater than this.
   */
  private static final double PART = 0.25;

  /**
   * A sum is determined if its relative change along the undetermined directions is less than this.
   */
  private static final double SUM_MOVES = 0.05;

  /** The least deviation, due to the clock and noise. */
  static final double LEAST_DEVIATION = 0.01;

  /** Sums of squares with a smaller relative difference are equal. */
  private static final double SAME = 1e-9;

  private final FitProblem problem;
  private final double[] best;
  private final Profile profile;
  private final List<Parameter> free;
  private final Map<Parameter, Estimate> estimates;
  private final List<String> notes;

  Identifiability(
      FitProblem problem, double[] best, Map<Parameter, Estimate> timed, List<String> timingNotes) {
    this.problem = problem;
    this.best = best;
    this.free = problem.free();
    this.estimates = new EnumMap<>(Parameter.class);
    this.estimates.putAll(timed);
    this.notes = new ArrayList<>(timingNotes);
    // in the profile the timed parameters may deviate, too
    int freedom = freedom(best.length);
    double worse = Confidence.factor(freedom) * deviation(freedom);
    FitProblem relaxed = problem.relaxed(timed.values(), worse);
    this.profile = new Profile(relaxed, relaxed.extended(best), worse);
  }

  FitResult read() {
    double[][] jacobian = FitProblem.jacobian(best, problem::residuals);
    List<Integer> effective = new ArrayList<>();
    for (int i = 0; i < best.length; i++) {
      if (norm(jacobian, i) >= NO_EFFECT) {
        effective.add(i);
      } else {
        bound(i);
      }
    }
    if (!effective.isEmpty()) {
      readEffective(jacobian, effective);
    }
    exchangeCards();
    limitDoorbell();
    double error = Math.sqrt(problem.squares(best) / problem.observations().size());
    PerformanceModel model = PerformanceModel.of(estimates, problem.acknowledged());
    return new FitResult(model, estimates, error, notes);
  }

  /**
   * Exchanges the cards' estimates if needed. With one sender and one receiver the two cards are
   * symmetric in every formula, so an estimate may belong to either. The receiver's is assumed to
   * be the slower one, which is the conservative choice, as many senders share it.
   */
  private void exchangeCards() {
    Estimate sending = estimate(Parameter.SEND_NIC);
    Estimate receiving = estimate(Parameter.RECEIVE_NIC);
    Estimate greater = sending.value() > receiving.value() ? sending : receiving;
    Estimate lesser = greater == sending ? receiving : sending;
    if (sending.source() != Estimate.Source.FITTED
        && receiving.source() != Estimate.Source.FITTED) {
      return; // undetermined parameters have been noted
    }
    Estimate known = greater.source() == Estimate.Source.FITTED ? greater : lesser;
    String note =
        "one of o_nsnd and o_nrcv is %s, the other %s; one sender and one receiver do not show which"
            .formatted(nanos(known), described(known == greater ? lesser : greater));
    List.of(Parameter.SEND_NIC, Parameter.RECEIVE_NIC).forEach(card -> notes.remove(alone(card)));
    notes.add(note);
    estimates.put(Parameter.RECEIVE_NIC, as(Parameter.RECEIVE_NIC, greater, note));
    estimates.put(Parameter.SEND_NIC, as(Parameter.SEND_NIC, lesser, note));
  }

  private Estimate estimate(Parameter parameter) {
    return Objects.requireNonNull(estimates.get(parameter));
  }

  /**
   * Limits the doorbell to o_snd, which contains it. The search may end at a much greater value,
   * which predicts the same.
   */
  private void limitDoorbell() {
    Estimate doorbell = estimates.get(Parameter.DOORBELL);
    if (doorbell != null) {
      double whole = estimate(Parameter.SEND_OVERHEAD).value();
      estimates.put(
          Parameter.DOORBELL,
          new Estimate(
              Parameter.DOORBELL,
              Math.min(doorbell.value(), whole),
              doorbell.standardError(),
              doorbell.low(),
              doorbell.high(),
              doorbell.source(),
              doorbell.note()));
    }
  }

  private static String alone(Parameter parameter) {
    return parameter.symbol() + " is undetermined: its effect on the measurements is too small";
  }

  private static String described(Estimate estimate) {
    return switch (estimate.source()) {
      case AT_MOST ->
          String.format(Locale.ROOT, "at most %.3g ns", estimate.high().orElse(estimate.value()));
      case TOGETHER -> "known only in combination";
      case UNDETERMINED -> "undetermined";
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

  /**
   * Returns an orthonormal basis of the changes of the predictions that the parameters cause: one
   * column for each parameter, or combination of parameters, on which the measurements depend.
   */
  static List<RealMatrix> directions(FitProblem problem, double[] best) {
    SingularValueDecomposition decomposition =
        new SingularValueDecomposition(
            new Array2DRowRealMatrix(FitProblem.jacobian(best, problem::residuals)));
    double[] singular = decomposition.getSingularValues();
    List<RealMatrix> directions = new ArrayList<>();
    for (int i = 0; i < singular.length; i++) {
      if (singular[i] >= NO_EFFECT) {
        directions.add(decomposition.getU().getColumnMatrix(i));
      }
    }
    return directions;
  }

  private static double norm(double[][] jacobian, int column) {
    return Math.sqrt(Arrays.stream(jacobian).mapToDouble(row -> row[column] * row[column]).sum());
  }

  /** Returns the typical deviation of a measurement in a fit with that many degrees of freedom. */
  private double deviation(int freedom) {
    return Math.max(LEAST_DEVIATION, Math.sqrt(problem.squares(best) / freedom));
  }

  private int freedom(int parameters) {
    return Math.max(1, problem.observations().size() - parameters);
  }

  /**
   * Adds the estimate of a parameter that has no effect near the best point: its upper bound or, if
   * there is none, its lower bound. A doorbell may have a lower bound: it has an effect only while
   * it is less than o_snd.
   */
  private void bound(int index) {
    double most = profile.most(index);
    double least = most < LeastSquares.MOST_LOG ? LeastSquares.LEAST_LOG : profile.least(index);
    if (most < LeastSquares.MOST_LOG) {
      atMost(index, most, "any value up to the bound is possible, if other stages take less");
    } else if (least > LeastSquares.LEAST_LOG) {
      atLeast(index, least, "any value from the bound upwards is possible");
    } else {
      unbounded(index);
    }
  }

  /**
   * Adds the estimate of an unbounded parameter: 0 if that explains the measurements as well as the
   * best value, or else the best value.
   */
  private void unbounded(int index) {
    double[] without = best.clone();
    without[index] = LeastSquares.LEAST_LOG;
    boolean unused = problem.squares(without) <= problem.squares(best) * (1 + SAME);
    String note =
        unused
            ? "no measurement depends on it; 0 is assumed"
            : "any value is possible: its effect is less than the noise";
    Parameter parameter = free.get(index);
    double value = unused ? 0 : value(index);
    estimates.put(parameter, Estimate.bare(parameter, value, Estimate.Source.UNDETERMINED, note));
    notes.add(parameter.symbol() + ": " + note);
  }

  private double value(int index) {
    return Math.exp(best[index]);
  }

  private void atMost(int index, double most, String note) {
    OptionalDouble high = OptionalDouble.of(Math.exp(most));
    bounded(index, OptionalDouble.of(0), high, Estimate.Source.AT_MOST, note);
  }

  private void atLeast(int index, double least, String note) {
    OptionalDouble low = OptionalDouble.of(Math.exp(least));
    bounded(index, low, OptionalDouble.empty(), Estimate.Source.AT_LEAST, note);
  }

  private void bounded(
      int index, OptionalDouble low, OptionalDouble high, Estimate.Source source, String note) {
    Parameter parameter = free.get(index);
    OptionalDouble unknown = OptionalDouble.empty();
    estimates.put(
        parameter, new Estimate(parameter, value(index), unknown, low, high, source, note));
  }

  private void readEffective(double[][] jacobian, List<Integer> effective) {
    // with fewer rows than columns the decomposition would omit directions
    RealMatrix columns =
        new Array2DRowRealMatrix(Math.max(jacobian.length, effective.size()), effective.size());
    for (int row = 0; row < jacobian.length; row++) {
      for (int i = 0; i < effective.size(); i++) {
        columns.setEntry(row, i, jacobian[row][effective.get(i)]);
      }
    }
    int freedom = freedom(effective.size());
    double deviation = deviation(freedom);
    SingularValueDecomposition directions = new SingularValueDecomposition(columns);
    double[] singular = directions.getSingularValues();
    List<double[]> unknown = new ArrayList<>();
    List<TreeSet<Integer>> groups = new ArrayList<>();
    for (int direction = 0; direction < effective.size(); direction++) {
      double[] parts = directions.getV().getColumn(direction);
      double value = direction < singular.length ? singular[direction] : 0;
      double spread = value == 0 ? Double.POSITIVE_INFINITY : deviation / value;
      if (spread > UNKNOWN) {
        unknown.add(parts);
        groups.add(members(parts));
      }
    }
    Set<Integer> vague = groups.stream().flatMap(Set::stream).collect(Collectors.toSet());
    for (int i = 0; i < effective.size(); i++) {
      if (!vague.contains(i)) {
        fitted(effective.get(i), freedom);
      }
    }
    for (TreeSet<Integer> group : merged(groups)) {
      addCombined(effective, group, unknown);
    }
  }

  /**
   * Adds the estimate of a parameter that has its own effect near the best point. Where its
   * interval reaches an end of the search, only a bound is known: further away another stage may be
   * the slowest one, so that the parameter has no effect there.
   */
  private void fitted(int index, int freedom) {
    double least = profile.least(index);
    double most = profile.most(index);
    boolean open = most >= LeastSquares.MOST_LOG;
    if (least <= LeastSquares.LEAST_LOG && open) {
      undetermined(index);
    } else if (least <= LeastSquares.LEAST_LOG) {
      String note = "any value from 0 up to the bound explains the measurements within their noise";
      atMost(index, most, note);
    } else if (open) {
      String note = "any value from the bound upwards explains the measurements within their noise";
      atLeast(index, least, note);
    } else {
      double low = Math.exp(least);
      double high = Math.exp(most);
      estimates.put(
          free.get(index),
          new Estimate(
              free.get(index),
              value(index),
              OptionalDouble.of((high - low) / 2 / Confidence.factor(freedom)),
              OptionalDouble.of(low),
              OptionalDouble.of(high),
              Estimate.Source.FITTED,
              ""));
    }
  }

  private void undetermined(int index) {
    Parameter parameter = free.get(index);
    String note = alone(parameter);
    notes.add(note);
    estimates.put(
        parameter, Estimate.bare(parameter, value(index), Estimate.Source.UNDETERMINED, note));
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

  /** Merges groups that share a parameter. */
  private static List<TreeSet<Integer>> merged(List<TreeSet<Integer>> groups) {
    List<TreeSet<Integer>> merged = new ArrayList<>();
    for (TreeSet<Integer> group : groups) {
      TreeSet<Integer> whole = new TreeSet<>(group);
      merged.removeIf(other -> {
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

  private void addCombined(
      List<Integer> effective, TreeSet<Integer> group, List<double[]> unknown) {
    if (group.size() == 1) {
      undetermined(effective.get(group.first()));
      return;
    }
    double sum = group.stream().mapToDouble(i -> value(effective.get(i))).sum();
    double moves = 0;
    for (double[] direction : unknown) {
      double move =
          group.stream().mapToDouble(i -> value(effective.get(i)) / sum * direction[i]).sum();
      moves = Math.max(moves, Math.abs(move));
    }
    List<Parameter> parameters = group.stream().map(i -> free.get(effective.get(i))).toList();
    List<String> units = parameters.stream().map(Parameter::unit).distinct().toList();
    boolean sumIsKnown = moves < SUM_MOVES && units.size() == 1;
    String names =
        parameters.stream()
            .map(Parameter::symbol)
            .collect(Collectors.joining(sumIsKnown ? " + " : ", "));
    String note =
        sumIsKnown
            ? String.format(
                Locale.ROOT,
                "only %s = %.3g %s is determined; the measurements do not separate them",
                names,
                sum,
                units.get(0))
            : "the measurements do not separate " + names;
    notes.add(note);
    for (int i : group) {
      Parameter parameter = free.get(effective.get(i));
      estimates.put(
          parameter,
          Estimate.bare(parameter, value(effective.get(i)), Estimate.Source.TOGETHER, note));
    }
  }
}
