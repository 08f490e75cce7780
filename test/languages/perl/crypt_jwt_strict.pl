use strict;
use warnings;
use Crypt::JWT qw(decode_jwt);
use HTTP::Tiny;

my $ISSUER = 'https://api.example.com';
my ($keys, $fetched);

sub fetch_keys {
  return $keys if defined $fetched && time - $fetched < 300; # at most 5 minutes old
  my $response = HTTP::Tiny->new(verify_SSL => 1, timeout => 5)->get($ENV{JWKS_URL});
  die "no keys: $response->{status}\n" unless $response->{success};
  ($keys, $fetched) = ($response->{content}, time);
  return $keys;
}

sub verify {
  my ($token) = @_;
  my ($header, $claims) = decode_jwt(
    token => $token,
    kid_keys => fetch_keys(),
    accepted_alg => ['ES256', 'RS256'],
    decode_header => 1,
    verify_iss => sub { $_[0] eq $ISSUER },
    verify_aud => sub { $_[0] eq $ISSUER },
    verify_exp => 1,
    verify_iat => 1,
  );
  die "not an access token\n" if ($header->{typ} // '') ne 'at+jwt' || exists $header->{crit};
  defined $claims->{$_} or die "$_ is missing\n" for qw(iss aud sub client_id jti);
  return $claims;
}

1;
