"use strict";
// Plays a recording: curves, ledger and cursor from the numbers in #recording. No network, no storage.
(() => {
  const data = JSON.parse(document.getElementById("recording").textContent);
  const words = data.words;
  const by = (id) => document.getElementById(id);
  const canvas = by("chart"), readout = by("readout");
  const state = { group: 0, at: 0, playing: false, locked: !data.lesson, cursor: null, last: 0, picked: null };
  const number = (v) => (typeof v === "number" ? v : v === "+Inf" ? Infinity : v === "-Inf" ? -Infinity : v === null ? null : NaN);
  for (const group of data.groups)
    for (const run of group.runs) {
      run.loss = run.loss.map(number);
      run.scale = run.scale.map(number);
    }
  const group = () => data.groups[state.group];
  const length = () => Math.max(1, ...group().runs.map((r) => r.steps.length ? r.steps[r.steps.length - 1] + 1 : 0));
  const shown = () => Math.floor(state.at);
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const modeColour = (mode) => (mode === "no" ? style("--text") : style("--" + mode));

  // fates: 0 applied, 1 skipped while probing, 2 skipped by a fault, 3 loss not finite
  const laneHeight = 16, left = 64, right = 12, top = 10, axis = 22;
  let area = { width: 0, height: 0, plot: 0 };

  function range() {
    let low = Infinity, high = -Infinity;
    for (const run of group().runs)
      for (const v of run.loss)
        if (Number.isFinite(v) && v > 0) { low = Math.min(low, v); high = Math.max(high, v); }
    if (!(high > 0)) return [-1, 1];
    low = Math.log10(low); high = Math.log10(high);
    return high - low < 0.2 ? [low - 0.1, high + 0.1] : [low, high];
  }

  function draw() {
    const ratio = window.devicePixelRatio || 1, lanes = group().runs.length;
    area.width = canvas.clientWidth; area.height = canvas.clientHeight;
    area.plot = area.height - axis - lanes * laneHeight - 8;
    canvas.width = Math.round(area.width * ratio); canvas.height = Math.round(area.height * ratio);
    const c = canvas.getContext("2d");
    c.scale(ratio, ratio);
    c.clearRect(0, 0, area.width, area.height);
    c.font = "12px system-ui, sans-serif";
    const [low, high] = range(), end = length();
    const x = (step) => left + (area.width - left - right) * (step / end);
    const y = (v) => top + (area.plot - top) * (1 - (Math.log10(v) - low) / (high - low));
    c.strokeStyle = style("--line"); c.fillStyle = style("--quiet"); c.textAlign = "right";
    for (let e = Math.ceil(low); e <= Math.floor(high); ++e) {
      c.beginPath(); c.moveTo(left, y(10 ** e)); c.lineTo(area.width - right, y(10 ** e)); c.stroke();
      c.fillText(e >= -3 && e <= 4 ? String(10 ** e) : "1e" + e, left - 8, y(10 ** e) + 4);
    }
    c.textAlign = "center";
    for (let i = 0; i <= 4; ++i) c.fillText(String(Math.round(end * i / 4)), Math.min(x(end * i / 4), area.width - 18), area.height - 6);
    group().runs.forEach((run, lane) => {
      drawLine(c, run, x, y);
      drawLane(c, run, x, area.plot + 6 + lane * laneHeight);
    });
    if (state.cursor !== null) {
      c.strokeStyle = style("--quiet"); c.setLineDash([4, 3]);
      c.beginPath(); c.moveTo(x(state.cursor), top); c.lineTo(x(state.cursor), area.height - axis); c.stroke();
      c.setLineDash([]);
    }
  }

  function drawLine(c, run, x, y) {
    c.strokeStyle = modeColour(run.mode); c.lineWidth = 1.6; c.beginPath();
    let open = false;
    for (let i = 0; i < run.steps.length && run.steps[i] < shown(); ++i) {
      const v = run.loss[i];
      if (!Number.isFinite(v) || v <= 0) { open = false; continue; }
      open ? c.lineTo(x(run.steps[i]), y(v)) : c.moveTo(x(run.steps[i]), y(v));
      open = true;
    }
    c.stroke(); c.lineWidth = 1;
  }

  // Every bad step is visible at any length: it is at least two pixels wide.
  function drawLane(c, run, x, lane) {
    c.fillStyle = modeColour(run.mode); c.textAlign = "right"; c.fillText(run.mode, left - 8, lane + 11);
    for (const pass of [0, 1])
      for (let i = 0; i < run.steps.length && run.steps[i] < shown(); ++i) {
        const fate = run.fates[i];
        if ((fate > 0) !== (pass === 1)) continue;
        const from = x(run.steps[i]), width = Math.max(x(run.steps[i] + 1) - from, fate > 0 ? 2 : 0.6);
        c.globalAlpha = fate === 0 ? 0.3 : 1;
        c.fillStyle = fate === 3 ? style("--bad") : modeColour(run.mode);
        c.fillRect(from, lane + 2, width, laneHeight - 5);
        if (fate === 2) { c.fillStyle = style("--bad"); c.fillRect(from, lane + 2, width, 3); }
        c.globalAlpha = 1;
      }
  }

  function say(step) {
    const parts = [words.step + " " + step];
    for (const run of group().runs) {
      const i = run.steps.indexOf(step);
      if (i < 0 || step >= shown()) continue;
      const v = run.loss[i];
      const loss = Number.isFinite(v) ? v.toPrecision(4) : Number.isNaN(v) ? "NaN" : v > 0 ? "+Inf" : "−Inf";
      parts.push(run.mode + " " + loss + (run.fates[i] ? " (" + words.fates[run.fates[i]] + ")" : "") +
                 (run.scale[i] !== null && run.scale[i] !== undefined ? ", " + words.scale + " " + run.scale[i] : ""));
    }
    readout.textContent = parts.join(" · ");
  }

  function refresh() {
    const done = state.at >= length();
    by("play").textContent = state.playing ? words.pause : words.play;
    by("play").disabled = !state.locked && state.picked === null;
    by("step").disabled = by("play").disabled || done;
    by("position").disabled = !state.locked;
    by("position").max = length();
    by("position").value = shown();
    if (state.cursor === null) say(Math.max(0, shown() - 1)); else say(state.cursor);
    if (done && state.group === data.groups.length - 1 && by("outcome")) by("outcome").hidden = false;
    draw();
  }

  function lock() {
    if (state.locked) return;
    state.locked = true;
    for (const input of document.querySelectorAll("input[name=answer]")) input.disabled = true;
    const told = by("prediction"), right = state.picked === data.lesson.right;
    told.textContent = words.prediction + " " + data.lesson.answers[state.picked];
    by("verdict").textContent = right ? words.right : words.wrong;
    told.hidden = false;
  }

  function tick(now) {
    if (!state.playing) return;
    const seconds = Math.min(0.25, (now - state.last) / 1000);
    state.last = now;
    state.at = Math.min(length(), state.at + seconds * Number(by("pace").value));
    if (state.at >= length() && state.group + 1 < data.groups.length) choose(state.group + 1);
    else if (state.at >= length()) state.playing = false;
    refresh();
    requestAnimationFrame(tick);
  }

  function choose(index) {
    state.group = index; state.at = 0; state.cursor = null;
    if (by("group")) by("group").value = String(index);
  }

  function play() {
    lock();
    state.playing = !state.playing;
    if (state.playing && state.at >= length()) state.at = 0;
    state.last = performance.now();
    refresh();
    if (state.playing) requestAnimationFrame(tick);
  }

  by("play").addEventListener("click", play);
  by("step").addEventListener("click", () => { lock(); state.playing = false; state.at = Math.min(length(), shown() + 1); refresh(); });
  by("position").addEventListener("input", (e) => { state.playing = false; state.at = Number(e.target.value); refresh(); });
  if (by("group")) by("group").addEventListener("change", (e) => { state.playing = false; choose(Number(e.target.value)); if (data.lesson === null) state.at = length(); refresh(); });
  for (const input of document.querySelectorAll("input[name=answer]"))
    input.addEventListener("change", () => { state.picked = input.value; refresh(); });
  const point = (e) => {
    const box = canvas.getBoundingClientRect(), share = (e.clientX - box.left - left) / (box.width - left - right);
    state.cursor = Math.max(0, Math.min(length() - 1, Math.floor(share * length())));
    refresh();
  };
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerdown", point);
  canvas.addEventListener("pointerleave", () => { state.cursor = null; refresh(); });
  canvas.addEventListener("keydown", (e) => {
    const by_key = { ArrowLeft: -1, ArrowRight: 1, PageUp: -50, PageDown: 50 }[e.key];
    if (by_key === undefined) return;
    e.preventDefault();
    const from = state.cursor === null ? shown() - 1 : state.cursor;
    state.cursor = Math.max(0, Math.min(length() - 1, from + by_key));
    refresh();
  });
  window.addEventListener("resize", draw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  if (!data.lesson) state.at = length();
  refresh();
  document.documentElement.dataset.ready = "yes";
})();
