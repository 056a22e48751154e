# ralimp compare on small runs: matched sizes, trials, the report, going on, and what cannot be compared.
# usage: compare.sh PROGRAM SOURCE_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/run.bash" "$1" "$2"
pictures=no
command -v gnuplot >/dev/null && pictures=yes

write_config() { # FILE STEPS: a comparison of tiny SIRENs
    cat >"$1" <<END
run: $source_folder/configs/siren/quick.yaml
changes: [network.width=12, network.hidden_layers=2, "data.size=[12, 15]", training.phases.0.steps=$2,
          training.evaluate_every=5, training.log_every=5, training.checkpoint_every=5]
share: 0.8
seeds: [3, 4, 5]
entries:
  - {name: dense}
  - name: ralimp
    changes: ["network.hidden={kind: ralimp, norm: projected, degree: 1}"]
    trials: [{changes: [network.hidden.start_rms=1]}, {changes: [network.hidden.start_rms=2]}]
  - {name: narrow, changes: ["network.hidden={kind: narrow}"]}
  - {name: eugen, changes: ["network.hidden={kind: eugen, degree: 1}"], share: 1.2}
END
}

write_config small.yaml 10
expect 0 "$ralimp" compare small.yaml --check
expect_text out.txt '^dense +231 numbers, 100\.0 %'
expect_text out.txt '^narrow +173 numbers, +74\.9 %  network\.hidden\.width = 10'
[[ ! -e runs ]] || complain "--check writes"

expect 0 "$ralimp" compare small.yaml
expect_text out.txt 'warning: entries have different numbers of trials: dense 1, ralimp 2, narrow 1, eugen 1'
expect_text out.txt '^12/12  eugen, seed 5: psnr [0-9.]+, '
expect_text out.txt "^report $work/runs/small/report.html$"
for file in report.html report.md table.csv log.txt; do
    [[ -s runs/small/$file ]] || complain "no $file"
done
# 3 seeds of 4 entries, and 2 trials.
(($(wc -l <runs/small/table.csv) == 15)) || complain "table.csv: $(wc -l <runs/small/table.csv) lines"
expect_text runs/small/table.csv '^case,entry,seed,purpose,changes,size,numbers,psnr,'
expect_text runs/small/table.csv '^,ralimp,1000,trial,network.hidden.start_rms=1,network.hidden.features = [0-9]+,'
(($(grep -c '| yes |$' runs/small/report.md) == 1)) || complain "not one trial was taken"
if [[ $pictures == yes ]]; then
    [[ -s runs/small/quality.png ]] || complain "no quality.png"
    (($(grep -o 'src="data:image/png;base64,' runs/small/report.html | wc -l) >= 9)) || complain "pictures are missing"
fi
if grep -qE '(src|href)="[^d]' runs/small/report.html; then complain "report.html needs other files"; fi
# What it says of a run is what the run's folder says.
folder=$(sed -nE 's/^,narrow,4,result,.*,(runs[^,]*)$/\1/p' runs/small/table.csv)
psnr=$(sed -nE 's/^ *"psnr": ([0-9.]+).*/\1/p' "runs/small/$folder/result.json")
grep -q "^,narrow,4,result,.*,173,$psnr," runs/small/table.csv || complain "the PSNR of narrow is not $psnr"
expect 0 "$ralimp" evaluate "runs/small/$folder"

# Again: nothing is trained, and the figures are the same.
cp runs/small/table.csv before.csv
expect 0 "$ralimp" compare small.yaml --jobs 2
expect_text out.txt '^12 runs, 12 of them finished'
cmp before.csv runs/small/table.csv || complain "the table changed"
# One run is gone: it alone is trained.
rm -r "runs/small/$folder"
expect 0 "$ralimp" compare small.yaml
expect_text out.txt '^12 runs, 11 of them finished'
expect_text out.txt '^12/12  narrow, seed 4: '
sed -E 's/(,[^,]*){6}$//' before.csv >before.txt # without times
sed -E 's/(,[^,]*){6}$//' runs/small/table.csv | diff before.txt - || complain "another result"
# Other settings are other runs; the old ones stay.
expect 0 "$ralimp" compare small.yaml 'seeds=[3]' changes.3=training.phases.0.steps=11
expect_text out.txt '^4 runs, 0 of them finished'
[[ -e runs/small/$folder ]] || complain "a run of other settings is gone"

# Stopped: the runs save their state, and the same command goes on.
write_config long.yaml 400000
sed -i 's/checkpoint_every=5/checkpoint_every=100000/' long.yaml
start "$ralimp" compare long.yaml --output stopped --jobs 2
rows() { (($(cat "$1"/runs/*/*/metrics.csv 2>/dev/null | wc -l) > $2)); } # FOLDER NUMBER: that its runs have more
until_true rows stopped 20
send TERM 6
(($(cat stopped/runs/*/*/log.txt | grep -c '^to go on') == 2)) || complain "the runs did not save their state"
pgrep -f "$work/stopped/runs|--output stopped/runs" >/dev/null && complain "runs are left behind"
sed -i 's/400000/20/' long.yaml

# Killed: its runs end too.
write_config killed.yaml 400000
start "$ralimp" compare killed.yaml --output killed
until_true rows killed 5
send KILL 137
for ((i = 0; i < 100; i++)); do
    pgrep -f -- '--output killed/runs' >/dev/null || break
    sleep 0.1
done
((i < 100)) || complain "a run outlives its comparison"

# Two at a time would mix their logs and reports; another config would take the place of a report.
start "$ralimp" compare killed.yaml --output killed
until_true rows killed 8
expect_error 4 'killed: another comparison is under way there; wait' "$ralimp" compare killed.yaml --output killed
send TERM 6
(($(grep -c '^dense .* numbers, 100.0 %' killed/log.txt) == 2)) || complain "a comparison that was refused wrote into the log"
mkdir elsewhere
cp small.yaml elsewhere/small.yaml
cp runs/small/report.md before.md
expect_error 2 "^ralimp: runs/small: holds the comparison of $work/small.yaml, not that of $work/elsewhere/small.yaml; choose" \
    "$ralimp" compare elsewhere/small.yaml
cmp before.md runs/small/report.md || complain "another comparison's report was replaced"
expect 0 "$ralimp" inspect runs/small
expect_text out.txt "^  config +$work/small.yaml"
expect_text out.txt '^  state +finished'
expect_text out.txt '^  report +runs/small/report.md'
expect 0 "$ralimp" inspect killed
expect_text out.txt '^  state +unfinished'
expect 0 "$ralimp" inspect small.yaml
expect_text out.txt '^entries:  # what is compared'

# Data that are missing, or of a run that fails: the others go on, and that is said everywhere, also by the exit code.
originals=(runs/small/runs/dense/*/pictures/original.png)
cp "${originals[0]}" own.png
write_config missing.yaml 10
cat >>missing.yaml <<END
  - {name: gone, changes: [data.size=null, data.image=gone.png]}
END
missing=("$ralimp" compare missing.yaml 'seeds=[3]' --output missing)
expect_error 3 "^ralimp: 1 setting failed: gone: $work/gone.png: cannot be read: No such file" "${missing[@]}" --check
[[ ! -e missing ]] || complain "--check writes"
expect_error 3 "^ralimp: 1 run failed: gone, seed 3: $work/gone.png: cannot be read: No such file or directory; the same" \
    "${missing[@]}"
expect_text missing/log.txt "^warning: gone: $work/gone.png: cannot be read"
expect_text missing/log.txt '^4/5  eugen, seed 3: psnr|^5/5  eugen, seed 3: psnr'
expect_text missing/report.md '^\| gone \|.*\| 1 \|$'
for file in report.md report.html; do
    expect_text missing/$file "gone, seed 3: $work/gone.png: cannot be read"
done
expect_text missing/table.csv "^,gone,3,result,.*,error,$work/gone.png: cannot be read: No such file or directory,$"
(($(grep -c ',result,.*,completed,,runs' missing/table.csv) == 4)) || complain "the others did not go on"
expect 0 "$ralimp" inspect missing
expect_text out.txt '^  failed +1'
cp own.png gone.png
expect 0 "${missing[@]}"
expect_text out.txt '^5 runs, 4 of them finished'
expect_text missing/table.csv '^,gone,3,result,.*,completed,,runs/gone/'
# Other data are another run.
"$ralimp" render missing/runs/gone/* --size 12x15 --output other >out.txt 2>err.txt
cp other/reconstruction_12x15.png gone.png
expect 0 "${missing[@]}"
expect_text out.txt '^5 runs, 4 of them finished'
expect_text out.txt '^5/5  gone, seed 3: psnr'
runs=(missing/runs/gone/*)
((${#runs[@]} == 2)) || complain "the run of other data has taken the place of a run"
# Data that change while a run reads them.
write_config changing.yaml 10
sed -i '/name: ralimp/,$d' changing.yaml
cat >>changing.yaml <<END
  - {name: gone, changes: [data.size=null, data.image=gone.png, training.phases.0.steps=20000, training.log_every=100,
                           training.evaluate_every=20000, training.checkpoint_every=20000]}
END
start "$ralimp" compare changing.yaml 'seeds=[3]' --output changing
trained() { [[ -s $(echo changing/runs/gone/*/metrics.csv) ]]; }
until_true trained
rm gone.png
wait $process
code=$?
((code == 3)) || complain "exit code $code where data are gone"
expect_text err.txt "^ralimp: 1 run failed: gone, seed 3: $work/gone.png: cannot be read: No such file"
rm -r changing/runs/gone
cp own.png gone.png
start "$ralimp" compare changing.yaml 'seeds=[3]' --output changing
until_true trained
cp other/reconstruction_12x15.png gone.png
wait $process
expect_text err.txt '^ralimp: 1 run failed: gone, seed 3: its data changed while it was trained, and it was deleted'
expect_text changing/table.csv '^,gone,3,result,.*,error,"its data changed while it was trained, and it was deleted"'
ls changing/runs/gone/*/result.json >/dev/null 2>&1 && complain "a run of other data is kept as finished"
# Even where they are as before in the end.
cp own.png gone.png
start "$ralimp" compare changing.yaml 'seeds=[3]' --output changing
until_true trained
cp other/reconstruction_12x15.png gone.png
cp own.png gone.png
wait $process
expect_text err.txt '^ralimp: 1 run failed: gone, seed 3: its data changed while it was trained, and it was deleted'

# A run that is killed.
rm -r missing/runs/narrow/*
cat >kill_narrow.sh <<'END'
until pid=$(pgrep -f -- "--output killed-run/runs/narrow"); do sleep 0.01; done
kill -KILL $pid
END
write_config killed_run.yaml 10
sed -i 's/{name: narrow, changes: \[/&training.phases.0.steps=400000, /' killed_run.yaml
bash kill_narrow.sh &
expect_error 1 '^ralimp: 1 run failed: narrow, seed 3: ended by signal 9; the same' \
    "$ralimp" compare killed_run.yaml 'seeds=[3]' --output killed-run
wait
expect_text killed-run/table.csv '^,narrow,3,result,.*,error,ended by signal 9,runs/narrow/'
expect_text killed-run/table.csv '^,eugen,3,result,.*,completed,,runs/eugen/'

# A disk that is full for a run: it stops all, and its own words are passed on.
library=$(dirname "$ralimp")/tests/libfault_injection.so
if [[ -f $library ]]; then
    runs=(runs/small/runs/narrow/seed-4-*)
    rm -r "${runs[0]}"/{checkpoints,result.json}
    expect_error 4 "^ralimp: narrow, seed 4: .*: cannot be written: No space left on device" \
        env FAULT=full FAULT_AT=0 FAULT_IN="${runs[0]}/" LD_PRELOAD="$library" \
        ASAN_OPTIONS=verify_asan_link_order=0 "$ralimp" compare small.yaml
fi

# A loss that is not finite is a result.
write_config broken.yaml 10
expect 0 "$ralimp" compare broken.yaml 'entries.0.changes=[training.phases.0.optimizer.learning_rate=1e30]'
expect_text out.txt 'dense, seed 3: non-finite loss'
expect_text runs/broken/report.md '^\| dense \|.*\| 3 \|$'
expect 0 "$ralimp" compare broken.yaml 'entries.0.changes=[training.phases.0.optimizer.learning_rate=1e30]'
expect_text out.txt '^12 runs, 12 of them finished'

# Entries of another type, a rank that must be solved for, and paths beside the comparison.
mkdir beside
cp "$source_folder/configs/siren/quick.yaml" beside/run.yaml
cat >beside/types.yaml <<END
run: run.yaml
changes: [network.width=6, network.hidden_layers=2, "data.size=[12, 15]", training.phases.0.steps=3]
share: 1
seeds: [0]
entries:
  - {name: dense}
  - {name: double, changes: [precision=float64]}
  - {name: low-rank, changes: ["network.hidden={kind: low_rank}"]}
  - {name: symmetric, changes: ["network.hidden={kind: ralimp, split: symmetric}"], share: 20}
END
expect 0 "$ralimp" compare beside/types.yaml --output types
expect_text out.txt '^low-rank +81 numbers, 100.0 %  network.hidden.rank = 6'
expect_text types/report.md '^\| double \|'
cp own.png beside/own.png
expect 0 "$ralimp" compare beside/types.yaml --check 'changes=[network.width=6, "data.size=[12, 15]", data.image=own.png]'

# A run that someone went on with, or damaged.
folder=$(sed -nE 's/^,double,0,result,.*,(runs[^,]*)$/\1/p' types/table.csv)
echo '{"stopped_by": ' >"types/$folder/result.json"
expect_error 3 'delete the folder to train the run anew' "$ralimp" compare beside/types.yaml --output types
rm "types/$folder"/checkpoints/* "types/$folder"/result.json
expect 0 "$ralimp" compare beside/types.yaml --output types
expect_text out.txt '^4 runs, 3 of them finished'
expect 0 "$ralimp" train "types/$folder/config.yaml" training.phases.0.steps=5 --output "types/$folder"
expect_error 3 'its config is no longer that of the comparison' "$ralimp" compare beside/types.yaml --output types

# What cannot be compared.
expect_error 2 'no config given' "$ralimp" compare small.yaml=3
expect_error 2 'none.yaml' "$ralimp" compare none.yaml
expect_error 2 'metric: a run ends with psnr, max_error, not with loss' "$ralimp" compare small.yaml metric=loss
expect_error 2 'ralimp: no network.hidden.features gives a network of at most 2 numbers' \
    "$ralimp" compare small.yaml share=0.01
expect_error 2 'ralimp: .*unknown key' "$ralimp" compare small.yaml 'entries.1.changes=[network.hidden.size=3]'
expect 2 "$ralimp" compare "$source_folder/configs/siren/quick.yaml"
expect_text err.txt 'quick.yaml:2:1: unknown key kind'
expect_error 2 'narrow: solve: seed does not change the size' "$ralimp" compare small.yaml entries.2.solve=seed
expect_error 2 'the first entry is what the others' "$ralimp" compare small.yaml entries.0.solve=network.width
expect_error 2 'seeds: 1 is there twice' "$ralimp" compare small.yaml 'seeds=[1, 1]'
expect_error 2 'trial_seeds: 3 is there twice' "$ralimp" compare small.yaml 'trial_seeds=[3]'
expect_error 2 'is the folder of a run' "$ralimp" compare small.yaml --output "types/$folder"
if [[ -e /dev/full ]]; then
    "$ralimp" compare small.yaml 'seeds=[3]' >/dev/full 2>err.txt
    (($? == 4)) || complain "a full standard output is no error"
fi
echo text >file
expect_error 4 'file' "$ralimp" compare small.yaml --output file

finish
