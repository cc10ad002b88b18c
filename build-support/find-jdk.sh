# SPDX-License-Identifier: Apache-2.0
# Sourced by ./test and the scripts that run the modules: finds a JDK of the project's release or a later one.
# shellcheck shell=bash

JDK_RELEASE=25

# Returns whether $1 is the home of a JDK (not only a JRE) of that release or a later one. Every JDK since 9 has its
# version in the file "release".
is_our_jdk() {
  local release
  [ -x "$1/bin/javac" ] || return 1
  release=$(sed -nE 's/^JAVA_VERSION="([0-9]+).*/\1/p' "$1/release" 2>/dev/null)
  [ "${release:-0}" -ge "$JDK_RELEASE" ]
}

# Prints the home of the first such JDK, the most explicit settings first; fails if there is none.
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
No JDK $JDK_RELEASE or later found: not in JAVA${JDK_RELEASE}_HOME, JAVA_HOME, JDK_HOME, on PATH, nor in
/usr/lib/jvm, /usr/java, /opt, ~/.sdkman/candidates/java or ~/.jdks.
Install one (a package such as openjdk-$JDK_RELEASE-jdk-headless or temurin-$JDK_RELEASE-jdk, or "sdk install java"),
or set JAVA_HOME to its location.
EOT
}

# Makes Maven run on the JDK at $1, and compile with it: Maven's toolchain search reads JAVA25_HOME. The options permit
# Maven's own libraries calls about which JVMs since 24 warn.
prepare_maven() {
  export JAVA_HOME=$1 JAVA25_HOME=$1
  # Without jansi.noreset, Maven 3 ends by an escape sequence, also into a file.
  export MAVEN_OPTS="${MAVEN_OPTS:-} --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow -Djansi.noreset=true"
}
