# A `verify` with the fewest options for each library.
require 'json/jwt'
require 'jwt'
require 'net/http'

KEYS = JSON.parse(Net::HTTP.get(URI(ENV.fetch('JWKS_URL'))))

DEFAULTS = {
  'ruby_jwt' => ->(token) { JWT.decode(token, nil, true, algorithms: %w[ES256 RS256], jwks: KEYS).first },
  'json_jwt' => ->(token) { JSON::JWT.decode(token, JSON::JWK::Set.new(KEYS)) }
}.freeze
