# What a run gives out as data: evaluate --grid and predict, as a user calls them.
# usage: outputs.sh PROGRAM SOURCE_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/run.bash" "$1" "$2"

expect 0 "$ralimp" train "${tiny_pinn[@]}" training.phases.0.steps=3 training.phases.1.steps=2 \
    --output pinn
expect 0 "$ralimp" train "${tiny_siren[@]}" training.phases.0.steps=2 --output siren

expect 0 "$ralimp" evaluate pinn
cp out.txt usual.txt
expect 0 "$ralimp" evaluate pinn --grid 16x10
diff usual.txt out.txt || complain "the grid of the config gives other figures"
expect 0 "$ralimp" evaluate --grid 31x20 pinn
if diff -q usual.txt out.txt >/dev/null; then complain "another grid gives the same figures"; fi

expect 0 "$ralimp" predict pinn --grid 7x4 --output field.csv
expect_text out.txt '^field.csv$'
[[ $(head -1 field.csv) == x,t,u,u_exact,residual ]] || complain "field.csv: $(head -1 field.csv)"
[[ $(wc -l <field.csv) == 29 ]] || complain "field.csv has $(wc -l <field.csv) lines"
# The grid's own points, given as a file: the same rows.
expect 0 "$ralimp" predict pinn --points field.csv --output again.csv
diff field.csv again.csv || complain "points of a grid have other values than the grid"
expect 0 "$ralimp" predict pinn --output usual.h5
expect 0 "$ralimp" predict pinn --grid 7x4 --output field.h5 --checkpoint best
# It is a reference: of the same equation without a formula for its solution.
expect 0 "$ralimp" train "${tiny_pinn[@]:0:1}" --check network.width=4 'problem={kind: custom,
    geometry: {kind: interval, lower: -1, upper: 1}, time: [0, 1],
    equations: ["u_t + u*u_x"], reference: field.h5}'
# The points that the run was trained with, whose first column is a text.
expect 0 "$ralimp" predict pinn --points pinn/points.csv --output trained.csv
[[ $(wc -l <trained.csv) == $(wc -l <pinn/points.csv) && $(wc -l <trained.csv) -gt 200 ]] ||
    complain "trained.csv has $(wc -l <trained.csv) lines"
diff <(cut -d, -f2,3 pinn/points.csv) <(cut -d, -f1,2 trained.csv) || complain "other points than those of the run"
printf 'x,t\n0.5,3\n0,1\n' >points.csv
expect 0 "$ralimp" predict pinn --points points.csv --output out.csv
expect_text err.txt '^warning: points.csv: 1 of 2 points lie outside the domain$'
expect_text out.csv '^0.5,3,[-0-9.e]+,nan,'

expect_error 2 '--output' "$ralimp" predict pinn --grid 7x4
expect_error 2 'excludes' "$ralimp" predict pinn --grid 7x4 --points points.csv --output a.csv
for grid in 7 7x4x2 7y4 x 7x 7xx4 -3x4 7.5x4 1e2x3 99999999999999999999x2 0x4 7x1 90000x90000; do
    expect_error 2 '--grid: ' "$ralimp" predict pinn --output a.csv "--grid=$grid"
    expect_error 2 '--grid: ' "$ralimp" evaluate pinn "--grid=$grid"
done
expect_error 2 "'a.txt' ends neither in .csv nor" "$ralimp" predict pinn --grid 7x4 --output a.txt
expect_error 4 'none/a.csv: cannot be written' "$ralimp" predict pinn --output none/a.csv
expect_error 4 'none/a.h5: cannot be written' "$ralimp" predict pinn --output none/a.h5
printf 'x,y\n1,2\n' >points.csv
expect_error 3 'points.csv: has no column t; it has x, y' "$ralimp" predict pinn \
    --points points.csv --output a.csv
expect_error 3 'nowhere.csv: cannot be read' "$ralimp" predict pinn --points nowhere.csv \
    --output a.csv
expect_error 2 'is for pinn runs; this is a siren run' "$ralimp" predict siren --output a.csv
expect_error 2 'is for pinn runs; this is a siren run' "$ralimp" evaluate siren --grid 4x4
[[ ! -e a.csv && ! -e a.h5 && ! -e a.txt ]] || complain "a refused prediction wrote a file"

# Where the solution is 0, an error relative to it says nothing.
zero='problem={kind: custom, geometry: {kind: interval, lower: 0, upper: 4}, outputs: [u, v],
    equations: [u_x, v_x], exact: ["sin(pi*x)", "0"], conditions: []}'
expect 0 "$ralimp" train "${tiny_pinn[@]:0:1}" network.width=4 "$zero" 'evaluation.grid=[16]' \
    training.phases.0.steps=3 training.phases.1.steps=2 --output zero
expect_text zero/log.txt '^rms_error_v stands for a relative error: the known solution is 0'
expect_text zero/result.json '^  "relative_l2_u": [0-9.e-]+,$'
expect_text zero/result.json '^  "rms_error_v": [0-9.e-]+,$'
[[ $(head -1 zero/metrics.csv) == *,relative_l2,max_error,relative_l2_u,rms_error_v ]] ||
    complain "zero/metrics.csv: $(head -1 zero/metrics.csv)"
# Of this grid, 0 to 4 in steps of 1, both are rounding alone.
expect 0 "$ralimp" evaluate zero --grid 5
[[ $(cut -d ' ' -f 1 out.txt | tr '\n' ' ') == 'step rms_error max_error rms_error_u rms_error_v ' ]] ||
    complain "evaluate zero: $(cat out.txt)"
if grep -E 'inf|nan|e\+' out.txt; then complain "errors of a solution of 0"; fi
[[ $(grep -c '^note: rms_error.* stands for a relative error: the known solution is 0' err.txt) == 3 ]] ||
    complain "evaluate zero: $(cat err.txt)"

# Frames, and the command that makes a film of them.
for count in 1 0 -1 10001 1.5 many; do
    expect_error 2 'frames' "$ralimp" render pinn "--frames=$count"
done
[[ ! -e pinn/pictures/frames ]] || complain "frames that cannot be made have a folder"
expect_error 2 'is for pinn runs; this is a siren run' "$ralimp" render siren --frames 3
if command -v gnuplot >/dev/null; then
    expect 0 "$ralimp" render pinn --frames 3 --output "it's"
    [[ $(ls "it's") == $'frame-0000.png\nframe-0001.png\nframe-0002.png' ]] ||
        complain "frames: $(ls "it's")"
    expect_text out.txt "^3 frames are in it's; "
    # The command as a shell reads it.
    ffmpeg() { printf '%s\n' "$@" >words.txt; }
    eval "$(tail -1 out.txt)"
    expect_text words.txt "^it's/frame-%04d.png$"
    expect_text words.txt "^it's/film.mp4$"
    # Pictures may have odd sides; H.264 wants even ones.
    expect_text words.txt '^pad=ceil\(iw/2\)\*2:ceil\(ih/2\)\*2$'
    expect 0 "$ralimp" render pinn --frames 2
    [[ -s pinn/pictures/frames/frame-0001.png ]] || complain "render --frames made no frame"
fi

# A file of points is not overwritten by what is predicted at them.
printf 'x,t\n0.5,0.5\n' >own.csv
expect_error 2 '--output own.csv is the file of --points' "$ralimp" predict pinn --points own.csv --output own.csv
[[ $(<own.csv) == $'x,t\n0.5,0.5' ]] || complain "predict changed the file of points"

# Data of the training that are gone are not missed afterwards.
printf 'x,u\n0.5,0.25\n' >data.csv
expect 0 "$ralimp" train "${tiny_pinn[@]:0:1}" network.width=4 --output data 'problem={kind: custom,
    geometry: {kind: interval}, equations: [u_x - 2*x], conditions: [{kind: points, file: data.csv}]}' \
    'evaluation.grid=null' training.phases.0.steps=2 training.phases.1.steps=2
rm data.csv
expect 0 "$ralimp" evaluate data
expect 0 "$ralimp" predict data --grid 5 --output data-field.h5
if command -v gnuplot >/dev/null; then expect 0 "$ralimp" render data; fi
expect_error 3 'data.csv' "$ralimp" train data/config.yaml --output again

finish
