#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# lines.pl: copies the lines of standard input to standard output, a FIFO with several writers, each line by one write. A
# line is shortened to PIPE_BUF bytes, up to which a write is atomic.
use strict;
use warnings;

my $limit = 4096;
while (defined(my $line = <STDIN>)) {
  $line = substr($line, 0, $limit - 1) . "\n" if length $line > $limit;
  syswrite(STDOUT, $line);
}
