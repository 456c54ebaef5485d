# libraries.sh PROGRAM PLUGIN EXAMPLES: scripts of the layer libraries run unchanged on the pretend accelerator and learn there:
# skflow as well as is asked of it on the CPU, two epochs of Keras well above chance (0.1).
on_tiny="run --device tiny:0 --plugin $2"
fail() {
  echo "FAILED: $1"
  exit 1
}
out=$("$1" $on_tiny "$3/skflow/iris.lua") || fail "skflow"
echo "$out"
# each estimator: at least 0.95 of the flowers that were held back
echo "$out" | awk '/accuracy/ { n++; if ($3 < 0.95) low = 1 } END { exit n < 2 || low }' || fail "skflow: accuracy"
out=$("$1" $on_tiny "$3/keras/mnist_cnn.lua" "" 2) || fail "keras"
echo "$out" | tail -n 2
echo "$out" | awk '/^test loss/ { n++; if ($6 < 0.5) low = 1 } END { exit n != 1 || low }' || fail "keras: accuracy"
