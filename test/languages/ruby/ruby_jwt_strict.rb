require 'jwt'
require_relative 'fetch_keys'

ISSUER = 'https://api.example.com'.freeze

def verify(token)
  claims, header = JWT.decode(
    token, nil, true,
    algorithms: %w[ES256 RS256],
    jwks: fetch_keys,
    verify_iss: true, iss: ISSUER,
    verify_aud: true, aud: ISSUER,
    verify_iat: true,
    required_claims: %w[iss aud exp iat sub client_id jti]
  )
  raise JWT::DecodeError, 'not an access token' if header['typ'] != 'at+jwt' || header.key?('crit')

  claims
end
