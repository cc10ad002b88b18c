# SPDX-License-Identifier: Apache-2.0
# Sourced by ./test and the scripts that run the modules: finds a JDK of the project's release.
# shellcheck shell=bash

JDK_RELEASE=25

# Returns whether $1 is the home of a JDK (not only a JRE) of that release. Every JDK since 9 has its version in the
# file "release".
is_our_jdk() {
  [ -x "$1/bin/javac" ] && grep -qE "^JAVA_VERSION=\"$JDK_RELEASE([.\"]|-)" "$1/release" 2>/dev/null
}

# Prints the home of the first JDK of that release, in the order of explicitness; fails if there is none.
find_jdk() {
  local javac home
  javac=$(command -v javac) && javac=$(readlink -f "$javac") || javac=
  for home in "${JAVA25_HOME:-}" "${JAVA_HOME:-}" "${JDK_HOME:-}" "${javac%/bin/javac}" \
      /usr/lib/jvm/* /usr/java/* /opt/jdk* /opt/java/* \
      "${SDKMAN_DIR:-${HOME:-}/.sdkman}"/candidates/java/* "${HOME:-}"/.jdks/*; do
    if [ -n "$home" ] && is_our_jdk "$home"; then
      printf '%s\n' "$home"
      return 0
    fi
  done
  return 1
}

# Prints what to do when find_jdk fails.
explain_missing_jdk() {
  cat >&2 <<EOT
No JDK $JDK_RELEASE found: not in JAVA${JDK_RELEASE}_HOME, JAVA_HOME, JDK_HOME, on PATH, nor in
/usr/lib/jvm, /usr/java, /opt, ~/.sdkman/candidates/java or ~/.jdks.
Install one (a package such as openjdk-$JDK_RELEASE-jdk-headless or temurin-$JDK_RELEASE-jdk, or "sdk install java"),
or set JAVA_HOME to its location.
EOT
}

# Sets Maven's environment for a build with the JDK at $1. Maven's toolchain search reads JAVA25_HOME, so that it finds
# the same one; Maven itself runs on JAVA_HOME, or on the java of PATH.
prepare_maven() {
  export JAVA25_HOME=$1
  command -v java >/dev/null || export JAVA_HOME=${JAVA_HOME:-$1}
  quiet_maven
}

# Permits Maven's own libraries what JVMs since 24 warn about; JVMs before 23 do not have the option.
quiet_maven() {
  local java=java release
  [ -z "${JAVA_HOME:-}" ] || java=$JAVA_HOME/bin/java
  release=$("$java" -XshowSettings:properties -version 2>&1 |
    sed -n 's/^ *java\.specification\.version = \([0-9]*\)$/\1/p') || release=
  [ "${release:-0}" -lt 24 ] ||
    export MAVEN_OPTS="${MAVEN_OPTS:-} --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow"
}
