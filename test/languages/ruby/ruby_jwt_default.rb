require 'json'
require 'jwt'
require 'net/http'

KEYS = JSON.parse(Net::HTTP.get(URI(ENV.fetch('JWKS_URL'))))

def verify(token)
  claims, = JWT.decode(token, nil, true, algorithms: %w[ES256 RS256], jwks: KEYS)
  claims
end
