package main

import "github.com/golang-jwt/jwt/v4"

func verify(text string) (map[string]interface{}, error) {
	token, err := jwt.Parse(text, func(token *jwt.Token) (interface{}, error) {
		return findKeyOf(token.Header["kid"])
	})
	if err != nil {
		return nil, err
	}
	return token.Claims.(jwt.MapClaims), nil
}
