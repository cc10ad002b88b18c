#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# relay.pl MARK EVENTS CLOSED DRAINED: copies standard input to standard output until MARK between two zero bytes has
# come, then writes the line DRAINED to the FIFO EVENTS. If its output is closed, it writes the line CLOSED there and
# reads on. This is Perl because every Debian has it, and a shell can neither copy bytes as they come nor find a mark.
use strict;
use warnings;

my ($mark, $events, $closed, $drained) = @ARGV;
$mark = "\0$mark\0";
$SIG{PIPE} = 'IGNORE';
my $writable = 1;

sub tell_host {
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
      # Who shares the standard output with us may have made it so.
      my $set = '';
      vec($set, fileno(STDOUT), 1) = 1;
      select(undef, $set, undef, 1);
    } elsif (!$!{EINTR}) {
      $writable = 0;
      tell_host($closed);
    }
  }
}

# How much of the end of the data may be the start of the mark?
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
    tell_host($drained);
    exit 0;
  }
  my $keep = held_back($held);
  put(substr($held, 0, length($held) - $keep));
  $held = $keep ? substr($held, -$keep) : '';
}
put($held);
