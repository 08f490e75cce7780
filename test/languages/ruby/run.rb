# Loads a program of this folder, and verifies the tokens that it reads as lines of JSON. Prints a verdict for each of them.
require 'json'
require_relative ARGV.fetch(0)

$stdin.each_line do |line|
  begin
    claims = verify(JSON.parse(line)['token'])
    verdict = { accepted: true, sub: claims['sub'], scope: claims['scope'] }
  rescue StandardError => e
    verdict = { accepted: false, why: "#{e.class}: #{e.message}" }
  end
  puts JSON.generate(verdict)
end
