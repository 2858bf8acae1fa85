# The same module; npm runs the tests.
: "${GATE:=npm test}"
. "$(dirname "${BASH_SOURCE[0]}")/node-test.sh"
