// SPDX-License-Identifier: Apache-2.0

/**
 * An evaluation between two hosts: {@code ferrule evaluate --server} on one of them asks {@code
 * ferrule serve --for-evaluation} on the other for servers. Messages are JSON objects over TCP:
 *
 * <pre>
 * host      {"evaluation": VERSION, "challenge": TEXT}
 * client    {"answer": TEXT}                          a keyed hash, see Token
 * host      {"machine": {…}, "processors": N}  or  {"refused": REASON, "later": BOOLEAN}
 * client    {"id": N, "start": SCHEME, "options": {…}, "waiting": TEXT, "pinned": BOOLEAN}
 * host      {"id": N, "uri": TEXT}  or  {"id": N, "failed": REASON, "exitCode": CODE}
 * host      {"server": N, "line": TEXT}               error output of the server started by N
 * client    {"id": N, "stop": N}                      host: {"id": N}
 * client    {"alive": true}                           host: the same
 * </pre>
 */
@NullMarked
package dev.ferrule.lab.remote;

import org.jspecify.annotations.NullMarked;
