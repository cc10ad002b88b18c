#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# uml-wire.pl UML FOLDER1 FOLDER2 ARG…: runs "UML machine NUMBER DESCRIPTOR FOLDER ARG…" for two machines, and is the
# wire between them: it copies the packets that each writes to its descriptor to the other's. A machine's requests of
# rxe-wire are in the file "question" of its folder, and get a file "answer". Exits with the first machine's code, after
# it has killed the second.
use strict;
use warnings;
use POSIX ();
use Socket;

my ($uml, @folders) = splice(@ARGV, 0, 3);
my (@wire, @machine);
my @open = (1, 1);
my $up = 1;

sub end {
  my ($code) = @_;
  kill_machine($_) for (0, 1);
  exit $code;
}

sub kill_machine {
  my ($number) = @_;
  return unless $machine[$number];
  kill('KILL', $machine[$number]);
  waitpid($machine[$number], 0);
  $machine[$number] = 0;
}
$SIG{$_} = sub { end(143) } for qw(INT TERM HUP);
$SIG{PIPE} = 'IGNORE';

# A sequence of packets, of which the receiver's buffer takes more than of datagrams.
my @end;
for my $number (0, 1) {
  socketpair($end[$number], $wire[$number], AF_UNIX, SOCK_SEQPACKET, 0) or die "uml: no socket: $!\n";
}
for my $number (0, 1) {
  my $process = fork() // die "uml: no process: $!\n";
  if (!$process) {
    my $descriptor = POSIX::dup(fileno($end[$number])); # not closed by exec, unlike the first
    exec('setpriv', '--pdeathsig', 'KILL', $uml, 'machine', $number + 1, $descriptor, $folders[$number], @ARGV)
      or POSIX::_exit(125);
  }
  $machine[$number] = $process;
}
close($_) for @end;

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
    end($code) if $number == 0;
    print STDERR "uml: host 2's command ended with $code\n";
  }
}

# Copies a packet of machine $number, if the wire is not cut; one that has ended sends and takes none.
sub copy_packet {
  my ($number) = @_;
  my $packet;
  return unless defined recv($wire[$number], $packet, 65536, 0);
  if (!length $packet) {
    $open[$number] = 0;
  } elsif ($up) {
    send($wire[1 - $number], $packet, 0);
  }
}

my $turns = 0;
while (1) {
  my $readable = '';
  vec($readable, fileno($wire[$_]), 1) = 1 for grep { $open[$_] } (0, 1);
  my $count = select($readable, undef, undef, 0.02);
  if ($count > 0) {
    copy_packet($_) for grep { vec($readable, fileno($wire[$_]), 1) } (0, 1);
  }
  if ($count <= 0 || ++$turns % 100 == 0) {
    look_for_requests();
    look_for_ended();
  }
}
