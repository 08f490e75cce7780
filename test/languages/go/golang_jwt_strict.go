package main

import (
	"errors"
	"time"

	"github.com/golang-jwt/jwt/v4"
)

const issuer = "https://api.example.com"

func keyOf(token *jwt.Token) (interface{}, error) {
	return findKey(token.Header["kid"], token.Header["alg"])
}

func verify(text string) (map[string]interface{}, error) {
	token, err := jwt.Parse(text, keyOf, jwt.WithValidMethods([]string{"ES256", "RS256"}))
	if err != nil {
		return nil, err
	}
	if token.Header["typ"] != "at+jwt" || token.Header["crit"] != nil {
		return nil, errors.New("not an access token")
	}
	claims := token.Claims.(jwt.MapClaims)
	now := time.Now().Unix()
	if !claims.VerifyExpiresAt(now, true) || !claims.VerifyIssuedAt(now, true) {
		return nil, errors.New("exp or iat is missing or wrong")
	}
	if !claims.VerifyIssuer(issuer, true) || !claims.VerifyAudience(issuer, true) {
		return nil, errors.New("wrong issuer or audience")
	}
	for _, name := range []string{"sub", "client_id", "jti"} {
		if claims[name] == nil {
			return nil, errors.New(name + " is missing")
		}
	}
	return claims, nil
}
