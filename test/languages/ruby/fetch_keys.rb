require 'json'
require 'net/http'

# Returns the key set, which is at most 5 minutes old.
def fetch_keys
  now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  unless @fetched && now - @fetched < 300
    response = Net::HTTP.get_response(URI(ENV.fetch('JWKS_URL')))
    @keys = JSON.parse(response.tap(&:value).body) # `value` raises for a status other than 2xx
    @fetched = now
  end
  @keys
end
