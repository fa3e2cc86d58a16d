// Memory over one step: what is allocated at each moment, and what the allocator holds for it.

const CURVE_TOP = 16, CURVE_HEIGHT = 240, CURVE_LEFT = 58;

class Curve extends Panel {
  constructor(host, data, name, label) {
    const whole = Math.max(data.time[data.time.length - 1], 1);
    super(host, {
      name, label, whole, least: Math.min(whole / 400, 2000), wholeWords: "Whole step",
      help: TOUCHED ? "Drag to move, pinch to zoom, tap to read a moment."
        : "Drag to move. Click, then scroll or press + and −, to zoom; arrow keys walk, Enter: the peak, 0: all.",
      plot: (width) => ({ left: CURVE_LEFT, width: width - CURVE_LEFT - 2 }),
      height: () => CURVE_HEIGHT,
      draw: (context, width, height) => this.drawAll(context, width, height),
    });
    Object.assign(this, { data, whole, index: -1, fitted: false });
    this.peak = data.allocated.indexOf(Math.max(...data.allocated));
    this.fit = this.button("Fit the height", "", () => {
      this.fitted = !this.fitted;
      this.fit.setAttribute("aria-pressed", String(this.fitted));
      this.redraw();
    });
    this.fit.setAttribute("aria-pressed", "false");
    this.seen.before(this.fit);
    this.say(this.peak);
  }

  // The last point at or before a moment: the curve keeps a value until the next.
  pointAt(at) {
    let low = 0, high = this.data.time.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.data.time[middle] <= at) { low = middle + 1; } else { high = middle; }
    }
    return Math.max(low - 1, 0);
  }

  range() {
    const { allocated, reserved } = this.data;
    const last = this.pointAt(this.view.to) + 1, from = this.pointAt(this.view.from);
    const values = allocated.slice(from, last);
    if (this.fitted) {
      const low = Math.min(...values), high = Math.max(...values);
      const room = Math.max((high - low) * 0.08, high * 0.002, 1);
      return [Math.max(low - room, 0), high + room];
    }
    const most = Math.max(...allocated), held = reserved ? Math.max(...reserved) : 0;
    return [0, (held <= 1.6 * most ? Math.max(most, held) : most) * 1.04];
  }

  drawAll(context, width, height) {
    const names = {
      ink: "--ink", muted: "--muted", grid: "--hair", accent: "--accent", line: "--line",
      above: "--area", before: "--area-before", lasting: "--area-lasting",
    };
    const colours = Object.fromEntries(Object.entries(names).map(([key, name]) => [key, theColour(name)]));
    colours.font = getComputedStyle(document.body).fontFamily;
    const { left, width: wide } = this.plot(width), bottom = height - 26, [low, high] = this.range();
    const y = (bytes) => bottom - (bytes - low) / (high - low) * (bottom - CURVE_TOP);
    this.drawHeights(context, { left, wide, low, high, y }, colours);
    if (this.data.axis === "time") { drawTimeAxis(context, this, height, colours); }
    context.save();
    context.beginPath();
    context.rect(left, 4, wide, bottom - 4);
    context.clip();
    // What the step adds is dark; what was alive before it pale, what lasts palest.
    const { start, lasting } = this.data;
    const bands = [["above", Infinity, start], ["before", start, lasting], ["lasting", lasting, 0]];
    bands.forEach(([band, upper, lower]) => {
      context.save();
      context.beginPath();
      const highest = upper === Infinity ? 0 : y(upper);
      context.rect(left, highest, wide, Math.max(y(lower) - highest, 0));
      context.clip();
      this.trace(context, this.data.allocated, y);
      context.lineTo(left + wide + 1, y(0));
      context.lineTo(left - 1, y(0));
      context.fillStyle = colours[band];
      context.fill();
      context.restore();
    });
    this.nameBands(context, left, y, colours);
    context.strokeStyle = colours.ink;
    context.lineWidth = 1.2;
    this.trace(context, this.data.allocated, y);
    context.stroke();
    if (this.data.reserved) {
      context.setLineDash([5, 3]);
      context.strokeStyle = colours.muted;
      this.trace(context, this.data.reserved, y);
      context.stroke();
      context.setLineDash([]);
    }
    this.drawPoint(context, this.peak, y, colours.ink, true);
    if (this.index >= 0) { this.drawPoint(context, this.index, y, colours.accent, false, bottom); }
    context.restore();
    context.fillStyle = colours.line;
    context.fillRect(left, bottom, wide, 1);
    const words = this.data.axis === "time" ? duration : (at) => `${count(Math.round(at))} changes`;
    this.seen.textContent = this.view.isWhole ? `${words(this.whole)}, the step that holds the peak`
      : `${words(this.view.span)} from ${words(this.view.from)} on`;
  }

  // Name what lasts and what was alive before the step, where the bands are high enough.
  nameBands(context, left, y, colours) {
    const { start, lasting, lasting_name } = this.data;
    const before = lasting ? "other, alive before the step" : "alive before the step";
    context.font = "12px " + colours.font;
    context.textAlign = "left";
    context.fillStyle = colours.ink;
    const bands = [[lasting, 0, lasting_name, lasting], [start, lasting, before, start - lasting]];
    bands.forEach(([upper, lower, name, bytes]) => {
      const top = Math.max(y(upper), CURVE_TOP), bottom = Math.min(y(lower), CURVE_HEIGHT - 26);
      const middle = Math.min((top + bottom) / 2, top + 14);
      if (bottom - top > 16) { context.fillText(`${name}, ${bytesText(bytes)}`, left + 6, middle); }
    });
  }

  drawHeights(context, { left, wide, low, high, y }, colours) {
    const [size, unit] = byteUnit(high), { marks, step } = ticks(low / size, high / size, 5);
    const places = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    context.font = "12px " + colours.font;
    context.textBaseline = "middle";
    context.textAlign = "right";
    marks.forEach((mark) => {
      context.fillStyle = colours.grid;
      context.fillRect(left, Math.round(y(mark * size)), wide, 1);
      context.fillStyle = colours.muted;
      context.fillText(mark.toFixed(places), left - 7, y(mark * size));
    });
    context.textAlign = "left";
    context.fillText(unit, 0, CURVE_TOP - 8);
  }

  trace(context, values, y) {
    const { left, width } = this.plot(this.width), { time } = this.data;
    const from = this.pointAt(this.view.from), last = Math.min(this.pointAt(this.view.to) + 1, time.length - 1);
    context.beginPath();
    context.moveTo(left - 1, y(values[from]));
    for (let index = from + 1; index <= last; index++) {
      context.lineTo(this.x(time[index]), y(values[index - 1]));
      context.lineTo(this.x(time[index]), y(values[index]));
    }
    context.lineTo(left + width + 1, y(values[last]));
  }

  drawPoint(context, index, y, colour, filled, bottom = 0) {
    const x = this.x(this.data.time[index]), high = y(this.data.allocated[index]);
    if (bottom) { context.fillStyle = colour; context.fillRect(x - 0.5, 8, 1, bottom - 8); }
    context.beginPath();
    context.arc(x, high, 4, 0, 2 * Math.PI);
    context.fillStyle = filled ? colour : theColour("--paper");
    context.strokeStyle = colour;
    context.lineWidth = 2;
    context.fill();
    context.stroke();
  }

  say(index) {
    const { time, allocated, reserved, axis, start } = this.data, over = allocated[index] - start;
    const when = axis === "time" ? moment(time[index]) : `change ${count(time[index])}`;
    const held = reserved ? `; ${bytesText(reserved[index])} reserved` : "";
    const above = over ? `, ${bytesText(Math.abs(over))} ${over > 0 ? "over" : "under"} the start` : "";
    this.readout.replaceChildren(line(make("b", {}, `${bytesText(allocated[index])} allocated`), `${above}${held}`),
      line(`${index === this.peak ? "the peak, " : ""}at ${when}`));
  }

  point(x) { this.take(this.pointAt(this.at(x))); }
  choose(x) { this.take(this.pointAt(this.at(x))); }
  leave() { if (document.activeElement !== this.canvas) { this.index = -1; this.say(this.peak); this.redraw(); } }

  take(index, aloud = false) {
    this.index = Math.min(Math.max(index, 0), this.data.time.length - 1);
    this.say(this.index);
    if (aloud) {
      this.view.reveal(this.data.time[this.index], this.data.time[this.index]);
      this.spoken.textContent = this.readout.textContent;
    }
    this.redraw();
  }

  focusPoint() {
    const at = this.index >= 0 ? this.data.time[this.index] : -1;
    return at > this.view.from && at < this.view.to ? at : undefined;
  }

  keys(key, shift) {
    const by = shift ? 0 : { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (by) { return () => this.take(this.index < 0 ? 0 : this.index + by, true); }
    if (key === "Enter") {
      const at = this.data.time[this.peak], room = this.whole / 40;
      return () => { this.take(this.peak, true); this.view.set(at - room, at + room); };
    }
    return null;
  }
}
