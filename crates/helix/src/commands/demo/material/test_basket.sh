#!/bin/sh
. ./basket.sh
tests=0
failed=0
expect() {
  tests=$((tests + 1))
  if [ "$2" = "$3" ]; then
    echo "ok $tests - $1"
  else
    failed=$((failed + 1))
    printf 'not ok %d - %s\n  ---\n  expected: %s\n  actual: %s\n  ...\n' "$tests" "$1" "$2" "$3"
  fi
}
expect "an empty basket costs nothing" 0 "$(total)"
expect "prices add up" 1250 "$(total 350 1 900 1)"
expect "quantities count" 1050 "$(total 350 3)"
echo "# tests $tests"
echo "# pass $((tests - failed))"
echo "# fail $failed"
[ $failed -eq 0 ]
