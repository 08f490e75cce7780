use strict;
use warnings;
use Crypt::JWT qw(decode_jwt);
use HTTP::Tiny;

my $keys = HTTP::Tiny->new(verify_SSL => 1)->get($ENV{JWKS_URL})->{content};

sub verify {
  my ($token) = @_;
  return decode_jwt(token => $token, kid_keys => $keys);
}

1;
