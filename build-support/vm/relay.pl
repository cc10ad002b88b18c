#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# relay.pl MARK EVENTS CLOSED DRAINED: copies standard input to standard output up to MARK between two zero bytes, then
# writes the line DRAINED to the FIFO EVENTS. If its output is closed, it writes the line CLOSED there and continues to
# read. In Perl because every Debian has it, and a shell can neither copy bytes as they arrive nor find a mark.
use strict;
use warnings;

my ($mark, $events, $closed, $drained) = @ARGV;
$mark = "\0$mark\0";
$SIG{PIPE} = 'IGNORE';
my $writable = 1;

sub notify_host {
  open(my $fifo, '>', $events) or return;
  syswrite($fifo, "$_[0]\n");
}

sub put {
  my ($data) = @_;
  while ($writable && length $data) {
    my $written = syswrite(STDOUT, $data);
    if (defined $written) {
      substr($data, 0, $written) = '';
    } elsif ($!{EAGAIN}) {
      # Another process with the same standard output may have made it non-blocking.
      my $set = '';
      vec($set, fileno(STDOUT), 1) = 1;
      select(undef, $set, undef, 1);
    } elsif (!$!{EINTR}) {
      $writable = 0;
      notify_host($closed);
    }
  }
}

# Returns the length of the data's end that may be the start of the mark.
sub held_back {
  my ($data) = @_;
  my $from = length($data) - length($mark) + 1;
  $from = 0 if $from < 0;
  while (($from = index($data, "\0", $from)) >= 0) {
    my $rest = substr($data, $from);
    return length $rest if $rest eq substr($mark, 0, length $rest);
    $from++;
  }
  return 0;
}

my $held = '';
while (1) {
  my $count = sysread(STDIN, my $data, 65536);
  next if !defined $count && $!{EINTR};
  last if !$count;
  $held .= $data;
  if (substr($held, -length $mark) eq $mark) {
    put(substr($held, 0, -length $mark));
    notify_host($drained);
    exit 0;
  }
  my $keep = held_back($held);
  put(substr($held, 0, length($held) - $keep));
  $held = $keep ? substr($held, -$keep) : '';
}
put($held);
