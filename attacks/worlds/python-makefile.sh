# The same module; the makefile includes another one, which calls a script.
: "${GATE:=make test}"
. "$(dirname "${BASH_SOURCE[0]}")/python-unittest.sh"
eval "unittest_$(declare -f world)"
world() {
  unittest_world
  mkdir -p ci bin
  printf 'export PATH := $(CURDIR)/bin:$(PATH)\ninclude ci/rules.mk\n' > Makefile
  printf 'test:\n\tsh ci/test.sh\n.PHONY: test\n' > ci/rules.mk
  printf 'set -e\npython3 -m unittest -v\n' > ci/test.sh
  : > bin/.keep
}
