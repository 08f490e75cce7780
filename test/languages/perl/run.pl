# Loads a program of this folder, and verifies the tokens that it reads as lines of JSON. Prints a verdict for each of them.
use strict;
use warnings;
use FindBin;
use JSON::PP;

require "$FindBin::Bin/$ARGV[0]";
$| = 1;

while (my $line = <STDIN>) {
  my $claims = eval { verify(decode_json($line)->{token}) };
  my $verdict = $claims
    ? { accepted => JSON::PP::true, sub => $claims->{sub}, scope => $claims->{scope} }
    : { accepted => JSON::PP::false, why => "$@" };
  print encode_json($verdict), "\n";
}
