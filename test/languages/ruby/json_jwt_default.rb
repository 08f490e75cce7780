require 'json/jwt'
require 'net/http'

KEYS = JSON::JWK::Set.new(JSON.parse(Net::HTTP.get(URI(ENV.fetch('JWKS_URL')))))

def verify(token)
  JSON::JWT.decode(token, KEYS)
end
