#!/bin/bash
# damaged_folders.sh PROGRAM TRACES: mantissa-golden sees one falsified bit of every kind, and refuses what is not a trace.
set -u
program=$1
traces=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
# The traces of this CPU's maker: only one value is to differ.
"$program" "$traces/clip_with_overflow" >/dev/null 2>&1 || traces=$traces/intel

# expect NAME EXIT_CODE TEXT: runs the program on $work/NAME.
expect() {
    local output code
    output=$("$program" "$work/$1" 2>&1)
    code=$?
    if [ "$code" -ne "$2" ] || ! grep -qF -- "$3" <<<"$output"; then
        echo "FAILED $1: exit code $code (wanted $2), and wanted the text '$3' in:"
        echo "$output"
        failures=$((failures + 1))
    fi
}

copy() { cp -r "$traces/$2" "$work/$1"; chmod -R u+w "$work/$1"; rm -f "$work/$1"/trace-bf16.json; }

# falsified NAME KIND SED_SCRIPT: one value of the fp16 trace is changed.
falsified() {
    copy "$1" clip_with_overflow
    sed -i "$3" "$work/$1/trace-fp16.json"
    if cmp -s "$work/$1/trace-fp16.json" "$traces/clip_with_overflow/trace-fp16.json"; then
        echo "FAILED $1: nothing was falsified"
        failures=$((failures + 1))
    fi
    expect "$1" 1 "first $2 that differs"
}

falsified loss loss '0,/"loss":"0x1\./s//"loss":"0x2./'
falsified lr lr 's/\("lr":"0x1\.[0-9a-f]*\)\([0-9a-f]p-[0-9]*"}\)/\1\2/; 0,/"lr":"0x1\./s//"lr":"0x2./'
falsified sync sync '0,/"sync":false/s//"sync":true/'
falsified skipped skipped '0,/"skipped":true/s//"skipped":false/'
falsified grad_norm grad_norm '0,/"grad_norm":"\(nan\|inf\|0x[0-9a-f.p+-]*\)"/s//"grad_norm":"0x1.5p+0"/'
falsified scale scale 's/"scale_after":"0x1\.\([0-9a-f]*\)p+33"/"scale_after":"0x1.\1p+32"/'
falsified tracker growth_tracker 's/"growth_tracker_after":1/"growth_tracker_after":0/'

copy weights clip_with_overflow
printf '\377' | dd of="$work/weights/final-fp16.safetensors" bs=1 seek=$(($(stat -c %s "$work/weights/final-fp16.safetensors") - 4)) \
    conv=notrunc status=none
expect weights 1 "first weights that differs"

# The same folder by its other names; the task's name is the folder's.
copy article1 article1
mkdir "$work/article1/inner"
for place in . ./ .. ../ "$work/article1/" inner/..; do
    inside=$work/article1
    case $place in ..*) inside=$work/article1/inner ;; esac
    output=$(cd "$inside" && "$program" "$place" 2>&1)
    if [ $? -ne 0 ] || ! grep -q '^article1 .* equal$' <<<"$output"; then
        echo "FAILED to name the folder by '$place': $output"
        failures=$((failures + 1))
    fi
done

expect nowhere 6 "there is no folder"
mkdir "$work/empty"
expect empty 2 "holds no trace-no.json"
copy truncated article1
head -c 500 "$traces/article1/trace-no.json" >"$work/truncated/trace-no.json"
expect truncated 2 "is not JSON: byte 501 of 500"
copy no_field article1
sed -i 's/"batch_size":8,//' "$work/no_field/trace-no.json"
expect no_field 2 "the field 'batch_size' is missing"
copy bad_number article1
sed -i '0,/"loss":"0x1/s//"loss":"maybe 0x1/' "$work/bad_number/trace-no.json"
expect bad_number 2 "not a hexadecimal float text"
copy bad_layer article1
sed -i 's/\["relu"\]/["swish"]/' "$work/bad_layer/trace-no.json"
expect bad_layer 2 "layer swish: this layer is not known"
copy bad_optimizer article1
sed -i 's/"AdamW"/"LBFGS"/' "$work/bad_optimizer/trace-no.json"
expect bad_optimizer 2 "optimizer LBFGS"
copy bad_scheduler article1
sed -i 's/"LinearLR"/"LambdaLR"/' "$work/bad_scheduler/trace-no.json"
expect bad_scheduler 2 "scheduler LambdaLR"
copy bad_sample article1
sed -i 's/"order":\[\[[0-9]*,/"order":[[640,/' "$work/bad_sample/trace-no.json"
expect bad_sample 2 "sample 640 of 64"
copy no_weights article1
rm "$work/no_weights/initial.safetensors"
expect no_weights 6 "initial.safetensors"
copy short_weights article1
head -c 300 "$traces/article1/initial.safetensors" >"$work/short_weights/initial.safetensors"
expect short_weights 2 "is not a safetensors file"
copy other_layers article1
sed -i 's/\["linear",8,16\]/["linear",8,17]/' "$work/other_layers/trace-no.json"
expect other_layers 2 "has another shape"

[ "$failures" -eq 0 ] && echo "all damaged folders were told apart"
exit "$failures"
