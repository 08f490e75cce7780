// Verifies the tokens that it reads as lines of JSON, with the `verify` of the other file. Prints a verdict for each of them.
package main

import (
	"bufio"
	"encoding/json"
	"os"
)

type verdict struct {
	Accepted bool        `json:"accepted"`
	Sub      interface{} `json:"sub,omitempty"`
	Scope    interface{} `json:"scope,omitempty"`
	Why      string      `json:"why,omitempty"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	output := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var line struct{ Token string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			panic(err)
		}
		claims, err := verify(line.Token)
		if err != nil {
			output.Encode(verdict{Why: err.Error()})
		} else {
			output.Encode(verdict{Accepted: true, Sub: claims["sub"], Scope: claims["scope"]})
		}
	}
}

// findKeyOf returns the key with an id, whatever the algorithm of the token is. Programs with the fewest options use it.
func findKeyOf(kid interface{}) (interface{}, error) {
	if key, err := findKey(kid, "ES256"); err == nil {
		return key, nil
	}
	return findKey(kid, "RS256")
}
