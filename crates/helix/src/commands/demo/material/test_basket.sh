#!/bin/sh
. ./basket.sh
failed=0
expect() {
  if [ "$2" = "$3" ]; then echo "ok - $1"; else echo "not ok - $1: expected $2, got $3"; failed=1; fi
}
expect "an empty basket costs nothing" 0 "$(total)"
expect "prices add up" 1250 "$(total 350 1 900 1)"
expect "quantities count" 1050 "$(total 350 3)"
exit $failed
