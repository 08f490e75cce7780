package main

import (
	"errors"
	"time"

	"gopkg.in/square/go-jose.v2/jwt"
)

const issuer = "https://api.example.com"

func verify(token string) (map[string]interface{}, error) {
	parsed, err := jwt.ParseSigned(token)
	if err != nil {
		return nil, err
	}
	header := parsed.Headers[0]
	if header.ExtraHeaders["typ"] != "at+jwt" || header.ExtraHeaders["crit"] != nil {
		return nil, errors.New("not an access token")
	}
	key, err := findKey(header.KeyID, header.Algorithm)
	if err != nil {
		return nil, err
	}
	var claims jwt.Claims
	var all map[string]interface{}
	if err := parsed.Claims(key, &claims, &all); err != nil {
		return nil, err
	}
	for _, name := range []string{"exp", "iat", "sub", "client_id", "jti"} {
		if all[name] == nil {
			return nil, errors.New(name + " is missing")
		}
	}
	expected := jwt.Expected{Issuer: issuer, Audience: jwt.Audience{issuer}, Time: time.Now()}
	return all, claims.ValidateWithLeeway(expected, 0)
}
