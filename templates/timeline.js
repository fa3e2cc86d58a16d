// One step of a case: what is open on the host, its calls, the device's streams, and what each instant counts as.

const LANE_GAP = 9, TOP = 10, AXIS = 26, LABEL = 14;
// A thread's calls stay below it.
const ORDER = { host: 0, calls: 0, device: 1, parts: 2 };

class Timeline extends Panel {
  constructor(host, data, name, label) {
    const lanes = data.lanes.map(readLane).sort((a, b) => ORDER[a.kind] - ORDER[b.kind]);
    super(host, {
      name, label, whole: data.duration, least: 200, wholeWords: "Whole step",
      help: TOUCHED ? "Drag to move, pinch to zoom, tap an activity to see what it is."
        : "Drag to move. Click, then scroll or press + and −, to zoom; arrow keys walk, Enter zooms in, 0 shows all.",
      plot: (width) => { const left = this.isWide(width) ? 104 : 0; return { left, width: width - left }; },
      height: (width) => this.place(width),
      draw: (context, width, height) => this.drawAll(context, width, height),
    });
    Object.assign(this, { data, lanes, chosen: null, under: null, band: null });
    this.byLaunch = this.findLaunches();
    this.worker = lanes.some(({ kind }) => kind === "device") ? "device" : "host";
    this.readout.before(this.key());
    this.ask("", "");
    this.say();
  }

  isWide(width) { return width >= 560; }

  // Give every lane its place from top to bottom, and return the height of all.
  place(width) {
    let y = TOP;
    this.lanes.forEach((lane, index) => {
      const before = this.lanes[index - 1];
      y += index ? (lane.kind === "calls" ? 3 : LANE_GAP + 3 * (ORDER[before.kind] !== ORDER[lane.kind])) : 0;
      if (!this.isWide(width)) { y += LABEL; }
      lane.top = y;
      y += lane.rows.length * (ROW + ROW_GAP) - ROW_GAP;
      lane.bottom = y;
    });
    return y + AXIS;
  }

  // What the colours mean: of parts that occur in this step.
  key() {
    const shown = new Set(this.lanes.flatMap((lane) => (lane.p || []).map((part) => this.data.parts[part])));
    return make("p", { class: "colours" }, ...this.data.parts.filter((part) => shown.has(part)).map((part) =>
      make("span", {}, make("span", { class: `swatch p-${part}` }), part.replace("-", " "))));
  }

  // Of each launch the slices that share it: the call and the activity.
  findLaunches() {
    const found = new Map();
    this.lanes.forEach((lane) => (lane.f || []).forEach((launch, index) => {
      if (launch >= 0) { found.set(launch, [...(found.get(launch) || []), { lane, index }]); }
    }));
    return found;
  }

  name({ lane, index }) {
    return lane.n ? this.data.names[lane.n[index]] : this.data.parts[lane.p[index]].replace("-", " ");
  }

  detail({ lane, index }) {
    const place = lane.a ? lane.a[index] : -1;
    if (place < 0) { return {}; }
    const [operator, shapes, source, operatorRow, kernelRow, functionRow] = this.data.details[place];
    const name = (number) => (number < 0 ? "" : this.data.names[number]);
    const words = { operator: name(operator), shapes: name(shapes), source: name(source) };
    return { ...words, operatorRow, kernelRow, functionRow };
  }

  // Whether a slice is one of those asked for, by a row of the tables or by the words searched for.
  isAsked(piece) {
    if (this.row) {
      const { operatorRow, kernelRow } = this.detail(piece);
      return piece.lane.kind === this.worker && (operatorRow === this.row || kernelRow === this.row);
    }
    return this.name(piece).toLowerCase().includes(this.words);
  }

  // Find again what is asked for; while nothing is, all slices are drawn alike.
  ask(row, words) {
    Object.assign(this, { row, words, asked: [] });
    this.lanes.forEach((lane) => {
      lane.asked = lane.start.map((start, index) => ((row || words) && this.isAsked({ lane, index }) ? 1 : 0));
      lane.asked.forEach((yes, index) => { if (yes) { this.asked.push({ lane, index }); } });
    });
    this.isAsking = this.asked.length > 0;
  }

  colours() {
    const parts = this.data.parts.map((part) => ({
      fill: theColour(`--${part}`) || theColour("--paper"), rim: theColour(`--rim-${part}`), hatched: HATCHED.has(part),
      text: theColour(`--on-${part}`),
    }));
    return {
      ink: theColour("--ink"), muted: theColour("--muted"), paper: theColour("--paper"), grid: theColour("--hair"),
      accent: theColour("--accent"), line: theColour("--line"), font: getComputedStyle(document.body).fontFamily, parts,
      host: [1, 2, 3].map((tone) => theColour(`--host-${tone}`)), call: theColour("--call"),
    };
  }

  drawAll(context, width, height) {
    const colours = this.colours(), { left, width: wide } = this.plot(width);
    drawTimeAxis(context, this, height, colours);
    this.lanes.forEach((lane) => {
      this.drawLabel(context, lane, width, colours);
      context.save();
      context.beginPath();
      context.rect(left, lane.top - 1, wide, lane.bottom - lane.top + 2);
      context.clip();
      lane.rows.forEach((row, depth) => this.drawRow(context, lane, row, depth, colours));
      context.restore();
    });
    this.drawBand(context, left, wide, height, colours);
    this.drawMark(context, this.under, colours.ink, 1);
    this.drawMark(context, this.chosen, colours.accent, 2);
    this.drawArrow(context, colours);
    this.seen.textContent = this.view.isWhole
      ? `${duration(this.view.whole)}, all of step ${this.data.step}`
      : `${duration(this.view.span)} from ${duration(this.view.from)} on`;
  }

  drawLabel(context, lane, width, colours) {
    context.font = "12px " + colours.font;
    context.fillStyle = colours.muted;
    context.textBaseline = "middle";
    context.textAlign = this.isWide(width) ? "right" : "left";
    const threads = this.lanes.filter(({ kind }) => kind === "host").length;
    const name = { calls: "calls", parts: "step time", host: threads > 1 ? lane.name : "host" }[lane.kind] || lane.name;
    if (this.isWide(width)) {
      context.fillText(cut(context, name, 96), 96, (lane.top + Math.min(lane.bottom, lane.top + ROW)) / 2);
    } else {
      context.fillText(cut(context, name, width), 0, lane.top - LABEL / 2 - 1);
    }
  }

  fill(lane, index, colours) {
    if (lane.p) { return colours.parts[lane.p[index]] || colours.parts[colours.parts.length - 1]; }
    if (lane.kind === "calls") { return { fill: colours.call, text: colours.paper }; }
    return { fill: colours.host[lane.depth[index] % colours.host.length] };
  }

  // What is wide enough is a box; of what is narrower each pixel shows the share of it that is filled.
  drawRow(context, lane, row, depth, colours) {
    const { view } = this, top = lane.top + depth * (ROW + ROW_GAP), { left, width } = this.plot(this.width);
    const scale = width / view.span, columns = new Map();
    for (let at = first(lane, row, view.from); at < row.length && lane.start[row[at]] < view.to; at++) {
      const index = row[at], from = left + (lane.start[index] - view.from) * scale;
      const to = left + (lane.end[index] - view.from) * scale;
      if (to < left) { continue; }
      const dim = this.isAsking && !lane.asked[index];
      const paint = this.fill(lane, index, colours);
      if (to - from >= 1.5) {
        this.drawBox(context, { lane, index }, from, to, top, paint, dim, colours);
      } else {
        cover(columns, dim ? "dim" : paint.fill, Math.max(from, left), to, left, Math.ceil(width));
        if (this.isAsking && !dim) { // what was asked for is seen however short it is
          context.fillStyle = colours.accent;
          context.fillRect(from - 0.5, top, 1.5, ROW);
        }
      }
    }
    drawColumns(context, columns, left, top, colours, this.isAsking);
  }

  drawBox(context, piece, from, to, top, paint, dim, colours) {
    const x = Math.max(from, -2), wide = Math.min(to, this.width + 2) - x;
    context.globalAlpha = dim ? 0.35 : 1;
    context.fillStyle = paint.fill;
    context.fillRect(x, top, wide, ROW);
    if (paint.hatched) { hatch(context, x, top, wide, paint.rim); }
    if (paint.rim && paint.rim !== paint.fill) { context.fillStyle = paint.rim; context.fillRect(x, top, wide, 1); }
    if (wide > 3) { context.fillStyle = colours.paper; context.fillRect(x + wide - 0.5, top, 0.5, ROW); }
    const seenFrom = Math.max(x, this.plot(this.width).left) + 4, room = Math.min(x + wide, this.width) - seenFrom - 4;
    if (room > 26) {
      context.fillStyle = paint.text || colours.ink;
      context.font = "11px " + colours.font;
      context.textAlign = "left";
      context.textBaseline = "middle";
      context.fillText(cut(context, this.name(piece).replace(/^aten::/, ""), room), seenFrom, top + ROW / 2 + 0.5);
    }
    context.globalAlpha = 1;
  }

  drawBand(context, left, wide, height, colours) {
    if (!this.band) { return; }
    const from = Math.max(this.x(this.band.from), left), to = Math.min(this.x(this.band.to), left + wide);
    if (to < left || from > left + wide) { return; }
    context.fillStyle = colours.accent;
    context.globalAlpha = 0.13;
    context.fillRect(from, 4, Math.max(to - from, 2), height - AXIS - 4);
    context.globalAlpha = 1;
    context.fillRect(from, 4, Math.max(to - from, 2), 2);
    context.fillRect(from, 4, 1, height - AXIS - 4);
    context.fillRect(Math.max(to, from + 2) - 1, 4, 1, height - AXIS - 4);
  }

  box({ lane, index }) {
    const { left, width } = this.plot(this.width), from = this.x(lane.start[index]), to = this.x(lane.end[index]);
    const x = Math.max(from, left), high = lane.top + lane.depth[index] * (ROW + ROW_GAP);
    const wide = Math.max(Math.min(to, left + width) - x, 1);
    return { x, wide, top: high, seen: to >= left && from <= left + width };
  }

  drawMark(context, piece, colour, thick) {
    if (!piece) { return; }
    const { x, wide, top, seen } = this.box(piece);
    if (!seen) { return; }
    context.strokeStyle = colour;
    context.lineWidth = thick;
    context.strokeRect(x - thick / 2, top - thick / 2, wide + thick, ROW + thick);
  }

  // From the launch to what it launched.
  drawArrow(context, colours) {
    const both = this.chosen && this.partners(this.chosen);
    if (!both) { return; }
    const [call, work] = both.map((piece) => ({ ...this.box(piece), lane: piece.lane }));
    if (!call.seen || !work.seen) { return; }
    const x = call.x + call.wide / 2, y = call.top + ROW, end = work.x, low = work.top;
    context.strokeStyle = colours.accent;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x, y);
    context.bezierCurveTo(x, y + 14, end, low - 14, end, low);
    context.stroke();
  }

  // The call and the activity of one launch, None where only one of them is known.
  partners({ lane, index }) {
    const both = lane.f && lane.f[index] >= 0 ? this.byLaunch.get(lane.f[index]) : null;
    return both && both.length === 2 ? [...both].sort((a, b) => (a.lane.kind === "calls" ? -1 : 1)) : null;
  }

  hit(x, y) {
    const { left } = this.plot(this.width);
    const lane = this.lanes.find((one) => y >= one.top - 3 && y < one.bottom + 3);
    if (!lane || x < left - 2) { return null; }
    const depth = Math.min(Math.max(Math.floor((y - lane.top) / (ROW + ROW_GAP)), 0), lane.rows.length - 1);
    const at = this.at(x), slack = this.view.span / this.plot(this.width).width * 3;
    const row = lane.rows[depth];
    let best = null, nearest = slack;
    for (let place = first(lane, row, at - slack); place < row.length; place++) {
      if (lane.start[row[place]] > at + slack) { break; }
      const index = row[place];
      const away = Math.max(lane.start[index] - at, at - lane.end[index], 0);
      // Of several under the pointer the longest is the one that can be seen.
      if (away < nearest || (away === nearest && best !== null && length(lane, index) > length(lane, best))) {
        [best, nearest] = [index, away];
      }
    }
    return best === null ? null : { lane, index: best };
  }

  point(x, y) {
    const piece = this.hit(x, y);
    this.canvas.style.cursor = piece ? "pointer" : "";
    if (same(piece, this.under)) { return; }
    this.under = piece;
    this.say();
    this.redraw();
  }

  leave() {
    if (this.under) { this.under = null; this.say(); this.redraw(); }
  }

  choose(x, y) { this.take(this.hit(x, y)); }

  enter(x, y) {
    const piece = this.hit(x, y);
    if (piece) { this.take(piece); this.frameSlice(piece); }
  }

  frameSlice({ lane, index }) { this.view.frame(lane.start[index], lane.end[index]); }

  take(piece, aloud = false) {
    this.chosen = piece;
    this.under = null;
    if (piece) { this.view.reveal(piece.lane.start[piece.index], piece.lane.end[piece.index]); }
    this.say();
    if (aloud && piece) { this.spoken.textContent = this.readout.textContent; }
    this.redraw();
  }

  keys(key, shift) {
    if (key === "Escape") { return () => { this.forget(); }; }
    if (key === "Enter" && this.chosen) {
      return () => this.frameSlice(this.chosen);
    }
    const along = { ArrowRight: 1, ArrowLeft: -1 }[key], across = { ArrowDown: 1, ArrowUp: -1 }[key];
    if (along && !shift) { return () => this.step(along); }
    return across ? () => this.change(across) : null;
  }

  focusPoint() {
    if (!this.chosen) { return undefined; }
    const { lane, index } = this.chosen;
    const middle = (lane.start[index] + lane.end[index]) / 2;
    return middle > this.view.from && middle < this.view.to ? middle : undefined;
  }

  // To the next slice of the row.
  step(by) {
    if (!this.chosen) { return this.takeNear(this.lanes[0], 0); }
    const { lane, index } = this.chosen, row = lane.rows[lane.depth[index]];
    const next = row[row.indexOf(index) + by];
    return next === undefined ? undefined : this.take({ lane, index: next }, true);
  }

  // To the slice of the next row that lies nearest.
  change(by) {
    const rows = this.lanes.flatMap((lane) => lane.rows.map((row, depth) => ({ lane, depth })));
    if (!this.chosen) { return this.takeNear(rows[0].lane, 0); }
    const { lane, index } = this.chosen;
    const here = rows.findIndex((row) => row.lane === lane && row.depth === lane.depth[index]);
    const next = rows[here + by];
    return next ? this.takeNear(next.lane, next.depth, (lane.start[index] + lane.end[index]) / 2) : undefined;
  }

  takeNear(lane, depth, at = this.view.from) {
    const row = lane.rows[depth];
    const distance = (index) => Math.max(lane.start[index] - at, at - lane.end[index], 0);
    this.take({ lane, index: row.reduce((best, index) => (distance(index) < distance(best) ? index : best)) }, true);
  }

  forget() {
    Object.assign(this, { chosen: null, under: null, band: null });
    this.ask("", this.words);
    this.say();
    this.redraw();
  }

  // Say what is pointed at, else what is chosen, else what was asked for.
  say() {
    const piece = this.under || this.chosen;
    this.readout.replaceChildren(...(piece ? this.aboutSlice(piece) : this.aboutAsked()));
  }

  aboutSlice(piece) {
    const { lane, index } = piece;
    const { operator, shapes, source, operatorRow, kernelRow, functionRow } = this.detail(piece);
    const times = `${duration(length(lane, index))} at ${moment(lane.start[index])}`;
    if (lane.kind === "parts") {
      const part = this.data.parts[lane.p[index]], works = WORK.has(part);
      return [line(make("b", {}, works ? this.name(piece) : `waits: ${this.name(piece)}`)),
        line(`${works ? "the device works" : "the device waits"}, ${times}`)];
    }
    const own = lane.kind === "host" ? operatorRow : kernelRow, facts = [times];
    const both = this.partners(piece);
    if (both && lane.kind === "device") {
      const wait = lane.start[index] - both[0].lane.end[both[0].index];
      facts.push(wait >= 0 ? `${duration(wait)} after its launch` : "begins while it is launched");
    }
    const rest = facts.map((fact) => [fact]);
    if (both && lane.kind === "calls") {
      rest.push(["launches ", linked(this.name(both[1]), this.detail(both[1]).kernelRow)]);
    }
    if (operator) { rest.push(["by ", linked(operator.replace(/^aten::/, ""), operatorRow)]); }
    if (shapes) { rest.push([shapes]); }
    if (source) { rest.push(["in ", linked(source, functionRow)]); }
    const second = rest.flatMap((fact, at) => (at ? [" · ", ...fact] : fact));
    return [line(linked(this.name(piece), own, "b")), line(...second)];
  }

  aboutAsked() {
    const lines = [];
    if (this.band) {
      const { label, from, to } = this.band, words = `${duration(to - from)} at ${moment(from)}`;
      lines.push(line(...(label ? [make("a", { href: `#${label}` }, label), ": "] : []), words));
    }
    if (this.isAsking) {
      const ns = this.asked.reduce((sum, { lane, index }) => sum + length(lane, index), 0);
      const name = this.row ? document.getElementById(this.row)?.querySelector("code")?.textContent || "all of it" : "";
      const number = count(this.asked.length);
      lines.push(this.row
        ? line(linked(name, this.row), `: ${number} on the ${this.worker} in this step, ${duration(ns)} in all`)
        : line(`“${this.words}”: ${number} in this timeline`));
    }
    if (!lines.length) {
      const left = this.data.left_out;
      const remark = left ? `${count(left)} short events of the step are left out here; its file for Perfetto has more.`
        : "Point at anything to see what it is.";
      lines.push(line(remark), line(this.help));
    }
    return lines;
  }

  // What a link on the page asks for.
  show({ from, to, row, label }) {
    this.forget();
    if (row) {
      this.ask(row, "");
      this.view.all();
      if (this.asked.length === 1) { this.frameSlice(this.asked[0]); }
    } else {
      this.ask("", "");
      this.band = { from: from * 1e3, to: to * 1e3, label };
      this.view.frame(this.band.from, this.band.to);
    }
    this.say();
    this.spoken.textContent = this.readout.textContent;
    this.redraw();
  }

  // The words that the page is searched for; returns how many slices carry them.
  search(words) {
    if (words === this.words) { return this.row ? 0 : this.asked.length; }
    this.ask(words ? "" : this.row, words);
    this.say();
    this.redraw();
    return this.asked.length;
  }
}

const WORK = new Set(["compute", "communication", "copy"]);
const HATCHED = new Set(["stall", "allocator", "input", "profiler"]);

const length = (lane, index) => lane.end[index] - lane.start[index];
const same = (one, other) => one?.lane === other?.lane && one?.index === other?.index;
const line = (...content) => make("p", {}, ...content);

function linked(text, row, tag = "span") {
  const code = make("code", {}, text);
  return row && document.getElementById(row) ? make("a", { href: `#${row}` }, code) : make(tag, {}, code);
}
