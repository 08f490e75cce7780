package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"sync"
	"time"

	"gopkg.in/square/go-jose.v2"
)

var (
	client  = http.Client{Timeout: 5 * time.Second}
	lock    sync.Mutex
	keys    jose.JSONWebKeySet
	fetched time.Time
)

// findKey returns a key of the set, which is at most 5 minutes old.
func findKey(kid, alg interface{}) (interface{}, error) {
	lock.Lock()
	defer lock.Unlock()
	if time.Since(fetched) > 5*time.Minute {
		response, err := client.Get(os.Getenv("JWKS_URL"))
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		var set jose.JSONWebKeySet
		if err := json.NewDecoder(response.Body).Decode(&set); err != nil || response.StatusCode != http.StatusOK {
			return nil, errors.New("no keys: " + response.Status)
		}
		keys, fetched = set, time.Now()
	}
	for _, key := range keys.Keys {
		if key.KeyID == kid && key.Algorithm == alg {
			return key.Key, nil
		}
	}
	return nil, errors.New("unknown key or algorithm")
}
