#!/bin/sh
# Runs a program of this folder with Debian's copies of the libraries. Debian has version 4 of golang-jwt at a path without `v4`.
set -e
gopath=$(mktemp -d)
trap 'rm -rf "$gopath"' EXIT
mkdir -p "$gopath/src/github.com/golang-jwt/jwt"
ln -s /usr/share/gocode/src/github.com/golang-jwt/jwt "$gopath/src/github.com/golang-jwt/jwt/v4"
GO111MODULE=off GOPATH="$gopath:/usr/share/gocode" go run run.go fetch_keys.go "$1"
