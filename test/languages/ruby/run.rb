# Verifies the tokens that it reads as lines of JSON, by a library and in a mode. Prints a verdict for each of them.
require 'json'

library, mode = ARGV
require_relative(mode == 'strict' ? "#{library}_strict" : 'defaults')
verify = mode == 'strict' ? method(:verify) : DEFAULTS.fetch(library)

$stdin.each_line do |line|
  begin
    claims = verify.call(JSON.parse(line)['token'])
    verdict = { accepted: true, sub: claims['sub'], scope: claims['scope'] }
  rescue StandardError => e
    verdict = { accepted: false, why: "#{e.class}: #{e.message}" }
  end
  puts JSON.generate(verdict)
end
