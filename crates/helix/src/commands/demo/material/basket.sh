#!/bin/sh
# Total price of a basket, in cents: total PRICE QUANTITY ...
total() {
  sum=0
  while [ $# -ge 2 ]; do
    sum=$((sum + $1))
    shift 2
  done
  echo "$sum"
}
