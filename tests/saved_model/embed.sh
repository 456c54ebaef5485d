#!/bin/sh
# A model that a script saved runs in a C program, without the script; errors name what is wrong.
#     embed.sh PROGRAM EMBED
set -u
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cat > "$here/make.lua" <<'L'
local tf = require "tfsdk"
local x = tf.placeholder("float32", {-1, 3}, {name = "x"})
local w = tf.Variable({{1, 10}, {2, 20}, {3, 30}}, {name = "w"})
local y = tf.matmul(x, w) + {0.5, -1}
local sess <close> = tf.Session()
sess:run(tf.global_variables_initializer())
tf.saved_model.simple_save(sess, arg[1] .. "/model", {x = x}, {y = y})
tf.saved_model.save(sess, arg[1] .. "/one.pb", {inputs = {x = x}, outputs = {y = y}})
L
"$1" run "$here/make.lua" "$here" || exit 1
rm "$here/make.lua"
bad=0
for model in model one.pb; do
  got=$("$2" "$here/$model" | tr '\n' ' ')
  # 1*1 + 2*2 + 3*3 + 0.5 and 10 + 40 + 90 - 1
  [ "$got" = "14.5 139 " ] || { echo "$model gives '$got'"; bad=1; }
done
expect() {
  text=$("$2" "$3" ${4:-} 2>&1) && { echo "'$1': no error"; bad=1; }
  case $text in *"$1"*) ;; *) echo "no '$1' in: $text"; bad=1 ;; esac
}
expect "has no output 'z'; there are 'y'" "$2" "$here/model" z
expect "$here/gone" "$2" "$here/gone"
rm "$here/model/variables/variables.index"
expect "variables" "$2" "$here/model"
exit $bad
