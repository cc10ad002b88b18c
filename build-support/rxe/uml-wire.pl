#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# uml-wire.pl UML FOLDER1 FOLDER2 ARG…: runs "UML machine NUMBER DESCRIPTOR FOLDER ARG…" for two machines, and is the
# wire between them: it copies the packets that each writes to its descriptor to the other's. A machine's requests of
# rxe-wire are in the file "question" of its folder, and get a file "answer". Exits with the first machine's code, after
# it has killed the second; or with 125 if the second one fails.
use strict;
use warnings;
use POSIX ();
use Socket qw(AF_UNIX SOCK_SEQPACKET MSG_DONTWAIT);

my ($uml, @folders) = splice(@ARGV, 0, 3);
my (@wire, @machine);
my @open = (1, 1);
my @held; # by sender, a packet for which the receiver has no room yet
my $up = 1;

sub end {
  my ($code) = @_;
  kill_machine($_) for (0, 1);
  exit $code;
}

sub kill_machine {
  my ($number) = @_;
  $open[$number] = 0;
  return unless $machine[$number];
  kill('KILL', $machine[$number]);
  waitpid($machine[$number], 0);
  $machine[$number] = 0;
}

$SIG{$_} = sub { end(143) } for qw(INT TERM HUP);

# A sequence of packets, of which the receiver's buffer takes more than of datagrams.
my @end;
for my $number (0, 1) {
  socketpair($end[$number], $wire[$number], AF_UNIX, SOCK_SEQPACKET, 0) or die "uml: no socket: $!\n";
}
for my $number (0, 1) {
  my $process = fork() // die "uml: no process: $!\n";
  if (!$process) {
    # As with with-rxe, only the first machine's output goes to standard output.
    open(STDOUT, '>&', \*STDERR) if $number == 1;
    my $descriptor = POSIX::dup(fileno($end[$number])); # not closed by exec, unlike the first
    exec('setpriv', '--pdeathsig', 'KILL', $uml, 'machine', $number + 1, $descriptor, $folders[$number], @ARGV)
      or POSIX::_exit(125);
  }
  $machine[$number] = $process;
}
close($_) for @end;
$SIG{PIPE} = 'IGNORE';

# Does what a machine requests, and returns the answer.
sub answer {
  my ($number, $what) = @_;
  if ($what eq 'up' || $what eq 'down') {
    $up = $what eq 'up';
  } elsif ($what eq 'kill-peer' || $what eq 'kill-self') {
    my $victim = $what eq 'kill-self' ? $number : 1 - $number;
    kill_machine($victim);
    end(137) if $victim == 0;
  } else {
    return "unknown request $what";
  }
  return 'done';
}

sub look_for_requests {
  for my $number (0, 1) {
    my $folder = $folders[$number];
    open(my $question, '<', "$folder/question") or next;
    my $what = <$question>;
    close($question);
    chomp($what);
    unlink("$folder/question");
    my $answer = answer($number, $what);
    open(my $file, '>', "$folder/answer.new") or die "uml: no answer: $!\n";
    print $file "$answer\n";
    close($file);
    rename("$folder/answer.new", "$folder/answer");
  }
}

sub look_for_ended {
  for my $number (0, 1) {
    next unless $machine[$number] && waitpid($machine[$number], POSIX::WNOHANG()) > 0;
    my $code = $? & 127 ? 128 + ($? & 127) : $? >> 8;
    $machine[$number] = 0;
    $open[$number] = 0;
    end($code) if $number == 0 || $code == 125;
    print STDERR "uml: host 2's command ended with $code\n";
  }
}

# Reads a packet of machine $number, unless one is held, and passes it on if the wire is not cut. A machine that has ended
# takes none.
sub pass_packet {
  my ($number) = @_;
  my $packet = $held[$number];
  if (!defined $packet) {
    return unless defined recv($wire[$number], $packet, 65536, MSG_DONTWAIT);
    $open[$number] = 0 if !length $packet;
  }
  $held[$number] = undef;
  return unless $up && $open[0] && $open[1];
  $held[$number] = $packet if !defined send($wire[1 - $number], $packet, MSG_DONTWAIT) && $!{EAGAIN};
}

sub ticks { return (POSIX::times())[0] } # of 10 ms

my $looked = 0;
while (1) {
  my ($readable, $writable) = ('', '');
  for my $number (grep { $open[$_] } (0, 1)) {
    if (defined $held[$number]) {
      vec($writable, fileno($wire[1 - $number]), 1) = 1;
    } else {
      vec($readable, fileno($wire[$number]), 1) = 1;
    }
  }
  if (select($readable, $writable, undef, 0.02) > 0) {
    for my $number (0, 1) {
      pass_packet($number)
        if vec($readable, fileno($wire[$number]), 1) || vec($writable, fileno($wire[1 - $number]), 1);
    }
  }
  if (ticks() - $looked >= 2) {
    look_for_requests();
    look_for_ended();
    $looked = ticks();
  }
}
