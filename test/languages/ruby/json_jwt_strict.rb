require 'json/jwt'
require_relative 'fetch_keys'

ISSUER = 'https://api.example.com'.freeze

def verify(token)
  claims = JSON::JWT.decode(token, JSON::JWK::Set.new(fetch_keys), %i[ES256 RS256])
  now = Time.now.to_i
  valid = claims.header['typ'] == 'at+jwt' && !claims.header.key?('crit') &&
          claims['iss'] == ISSUER && Array(claims['aud']).include?(ISSUER) &&
          claims['exp'].is_a?(Integer) && claims['exp'] > now &&
          claims['iat'].is_a?(Integer) && claims['iat'] <= now && claims.fetch('nbf', 0).to_i <= now &&
          %w[sub client_id jti].all? { |name| claims[name].is_a?(String) }
  raise JSON::JWT::VerificationFailed, 'not a valid access token' unless valid

  claims
end
