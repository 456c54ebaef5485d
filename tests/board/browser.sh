#!/bin/sh
# The board in a real browser, without a window.
#     browser.sh PROGRAM DRIVER [CHROMIUM]
# Skipped (exit code 77) where no Chromium is; $CHROMIUM names another one. $SCREENSHOTS: a folder for pictures;
# $SCRIPT, $LOGS: another script, another log folder.
set -u
program=$1 driver=$2
tests=$(cd "$(dirname "$0")" && pwd)
chromium=${CHROMIUM:-}
for name in ${3:-} chromium chromium-browser google-chrome; do
  [ -n "$chromium" ] || chromium=$(command -v "$name" || true)
done
if [ -z "$chromium" ]; then
  echo "skipped: there is no chromium here (Debian: apt-get install chromium)"
  exit 77
fi
here=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$here"' EXIT
logs=${LOGS:-$here/logs}
[ -n "${LOGS:-}" ] || "$program" run "$tests/write.lua" "$logs" || exit 1
cat >"$here/more" <<END
mkdir '$here/logs/trial_late' && cp '$here'/logs/trial_01/events.out.* '$here/logs/trial_late/'
END
"$program" board --port 0 --interval 0.1 "$logs" >"$here/url" &
server=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
  [ -s "$here/url" ] && break
  sleep 0.2
done
timeout 120 "$driver" "$chromium" "$(cat "$here/url")" "$tests/${SCRIPT:-browser.js}" "sh $here/more"
