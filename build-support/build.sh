# SPDX-License-Identifier: Apache-2.0
# Sourced by ./ferrule, ./compare, ./benchmark, ./with-rxe, many-connections.sh and bench/rdma-path.sh, with $root and
# find-jdk.sh: builds the modules they run, if needed.
# shellcheck shell=bash disable=SC2154 # root

# Prints the folder from which module $1 is run: its libraries are in lib, and the file "built" has the time of the
# build.
built_folder() {
  echo "$root/$1/target/$1"
}

# Folders count as well as files: a deleted source changes only its folder.
is_built() {
  local folder
  folder=$(built_folder "$1")
  [ -d "$folder/lib" ] && [ -f "$folder/built" ] \
    && [ -z "$(find "$root"/pom.xml "$root"/*/pom.xml "$root"/*/src/main -newer "$folder/built" -print -quit)" ]
}

# Builds module $2 for the program $1, unless it was built after the last change of the sources.
ensure_built() {
  is_built "$2" && return
  mkdir -p "$root/target"
  (
    # One build at a time; a program that waited uses its result.
    flock -n 9 || { echo "$1: waiting for another build …" >&2; flock 9; }
    is_built "$2" || build "$1" "$2"
  ) 9>"$root/target/ferrule-build.lock"
}

build() {
  local program=$1 module=$2 folder jdk maven=mvn started log=$root/target/ferrule-build.log
  folder=$(built_folder "$module")
  jdk=$(find_jdk) || { explain_missing_jdk; exit 1; }
  prepare_maven "$jdk"
  command -v mvn >/dev/null || maven=$root/mvnw
  if [ -f "$folder/built" ]; then
    echo "$program: building, because the sources have changed" >&2
  else
    echo "$program: building for the first time; this takes minutes, more if Maven has to fetch libraries" >&2
  fi
  started=$root/target/ferrule-build-started
  touch "$started"
  # Otherwise a library's old version would stay beside the new one.
  rm -rf "$folder/lib"
  # From the root, where Maven reads .mvn.
  if ! (cd "$root" && "$maven" -B -ntp -Dstyle.color=never -pl "$module" -am package \
    -DskipTests -Dspotless.check.skip -Dmaven.javadoc.skip -Dmaven.source.skip -Denforcer.skip) 2>&1 </dev/null \
    | tee "$log" | show_build "$program"
  then
    grep -E '^\[ERROR\]|^(Error|\./mvnw): ' "$log" | head -n 20 >&2 || tail -n 20 "$log" >&2
    echo "$program: build failed; the complete output is in $log" >&2
    exit 1
  fi
  # The stamp is from before the build, so that an edit during it is detected.
  mv "$started" "$folder/built"
}

# Reads Maven's output and shows the module being built: in a status line on a terminal, otherwise in a line for each.
show_build() {
  local part line='' at='starting Maven' status now shown='' start=$SECONDS
  local modules='^\[INFO\] Building (.*[^ ]) +[^ ]+ +\[([0-9]+/[0-9]+)\]$'
  while :; do
    status=0
    IFS= read -r -t 1 part || status=$?
    line+=$part
    if [ "$status" -eq 0 ]; then
      if [[ $line =~ $modules ]]; then
        at="${BASH_REMATCH[2]} ${BASH_REMATCH[1]}"
        [ -t 2 ] || echo "$1: building $at" >&2
      fi
      line=''
    elif [ "$status" -le 128 ]; then # greater values are timeouts
      break
    fi
    now="$1: building $at, $((SECONDS - start)) s"
    if [ -t 2 ] && [ "$now" != "$shown" ]; then
      printf '\r\033[K%s' "$now" >&2
      shown=$now
    fi
  done
  [ -z "$shown" ] || printf '\r\033[K' >&2
}
