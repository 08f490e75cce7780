package main

import (
	"time"

	"gopkg.in/square/go-jose.v2/jwt"
)

func verify(token string) (map[string]interface{}, error) {
	parsed, err := jwt.ParseSigned(token)
	if err != nil {
		return nil, err
	}
	key, err := findKeyOf(parsed.Headers[0].KeyID)
	if err != nil {
		return nil, err
	}
	var claims jwt.Claims
	var all map[string]interface{}
	if err := parsed.Claims(key, &claims, &all); err != nil {
		return nil, err
	}
	return all, claims.Validate(jwt.Expected{Time: time.Now()})
}
