require 'json'
require 'open-uri'

# Returns the key set, which is at most 5 minutes old.
def fetch_keys
  period = Process.clock_gettime(Process::CLOCK_MONOTONIC).div(300)
  @keys = nil if @period != period
  @period = period
  @keys ||= JSON.parse(URI.parse(ENV.fetch('JWKS_URL')).read(redirect: false, read_timeout: 5))
end
