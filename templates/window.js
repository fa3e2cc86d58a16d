// What timeline and curve have in common: an axis that can be zoomed and moved, a canvas that keeps sharp, and numbers
// in words. The files of this folder are put into one function, in the order that html.py names.

const TOUCHED = matchMedia("(hover: none)").matches;
const NBSP = "\u00a0", THIN = "\u202f";

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  Object.entries(attributes).forEach(([name, value]) => {
    if (value !== false) { element.setAttribute(name, value === true ? "" : value); }
  });
  element.append(...children);
  return element;
}

// Thousands apart, three significant digits: as everywhere in the report.
const apart = (text) => text.replace(/\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, THIN));
const count = (number) => apart(String(number));

function digits(value) {
  const size = Math.abs(value);
  return apart(value.toFixed(size === 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2));
}

function duration(ns) {
  const [size, unit] = ns < 1e6 ? [1e3, "µs"] : ns < 1e9 ? [1e6, "ms"] : [1e9, "s"];
  return digits(ns / size) + NBSP + unit;
}

// Where something begins, finer than how long it takes.
const moment = (ns) => (ns < 1e6 ? duration(ns) : `${apart((ns / 1e6).toFixed(3))}${NBSP}ms`);

const BYTE_UNITS = [[1, "B"], [1024, "KiB"], [1024 ** 2, "MiB"], [1024 ** 3, "GiB"]];
const byteUnit = (bytes) => BYTE_UNITS.findLast(([size]) => bytes >= size) || BYTE_UNITS[0];

function bytesText(bytes) {
  const [size, unit] = byteUnit(Math.abs(bytes));
  return digits(bytes / size) + NBSP + unit;
}

// Round places for about `count` marks from `low` to `high`.
function ticks(low, high, count) {
  const raw = (high - low) / Math.max(count, 1), power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= raw) || 10);
  const marks = [];
  for (let mark = Math.ceil(low / step) * step; mark <= high + step * 1e-6; mark += step) { marks.push(mark); }
  return { marks, step };
}

function theColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// The part of an axis that is seen, in the axis' own unit; `changed` is called when it is another.
class Window {
  constructor(whole, least, changed) {
    Object.assign(this, { whole, least: Math.min(least, whole), changed, from: 0, to: whole });
  }

  get span() { return this.to - this.from; }
  get isWhole() { return this.span >= this.whole; }

  set(from, to) {
    const span = Math.min(Math.max(to - from, this.least), this.whole);
    const middle = (from + to) / 2;
    const start = Math.min(Math.max(middle - span / 2, 0), this.whole - span);
    const differs = start !== this.from || start + span !== this.to;
    [this.from, this.to] = [start, start + span];
    if (differs) { this.changed(); }
    return differs;
  }

  // What lies at `at` stays where it is.
  zoom(factor, at = (this.from + this.to) / 2) {
    const span = Math.min(Math.max(this.span * factor, this.least), this.whole);
    const from = at - (at - this.from) * (span / this.span);
    return this.set(from, from + span);
  }

  move(by) { return this.set(this.from + by, this.to + by); }
  all() { return this.set(0, this.whole); }

  // Bring a stretch into view with room on both sides.
  frame(from, to) {
    const room = Math.max((to - from) * 0.6, this.least / 2);
    this.set(from - room, to + room);
  }

  // Move no further than it takes to see a stretch.
  reveal(from, to) {
    if (from >= this.from && to <= this.to) { return; }
    const middle = (from + to) / 2;
    this.set(middle - this.span / 2, middle + this.span / 2);
  }
}

// A canvas with its buttons and the line that says what is under the pointer. `plot` says where the axis lies:
// {left, width} in CSS pixels. Drawing waits for the next frame, and is done again when size or theme change.
class Panel {
  constructor(host, { name, label, help, whole, least, wholeWords, height, draw, plot }) {
    Object.assign(this, { host, draw, plot, height });
    this.view = new Window(whole, least, () => this.changed());
    this.canvas = make("canvas", { tabindex: 0, role: "application", "aria-label": label });
    this.context = this.canvas.getContext("2d");
    this.seen = make("span", { class: "seen" });
    this.readout = make("div", { class: "readout" });
    this.spoken = make("p", { class: "vh", role: "status" });
    const helpId = `${host.id}-help`;
    this.canvas.setAttribute("aria-describedby", helpId);
    this.tools = make("div", { class: "tools" },
      this.button("+", "Zoom in", () => this.view.zoom(0.5)), this.button("−", "Zoom out", () => this.view.zoom(2)),
      this.button(wholeWords, "", () => this.view.all()), this.seen);
    this.element = make("div", { class: "explorer", role: "group", "aria-label": name },
      this.tools, this.canvas, this.readout, this.spoken, make("p", { class: "vh", id: helpId }, help));
    this.help = help;
    this.listen();
    new ResizeObserver(() => this.redraw()).observe(this.element);
    document.addEventListener("themechange", () => this.redraw());
  }

  button(text, label, action) {
    const button = make("button", { type: "button" }, text);
    if (label) { button.setAttribute("aria-label", label); button.title = label; }
    button.addEventListener("click", action);
    return button;
  }

  changed() { this.redraw(); }

  redraw() {
    if (this.waiting) { return; }
    this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.paint(); });
  }

  paint() {
    const width = this.element.clientWidth;
    if (!width) { return; }
    this.width = width;
    const height = this.height(width), ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.height = `${height}px`;
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.draw(this.context, width, height);
  }

  // From a place on the canvas to the axis, and back.
  at(x) {
    const { left, width } = this.plot(this.width);
    return this.view.from + (x - left) / width * this.view.span;
  }

  x(at) {
    const { left, width } = this.plot(this.width);
    return left + (at - this.view.from) / this.view.span * width;
  }

  listen() {
    const canvas = this.canvas, held = new Map();
    let pinch = 0, dragged = 0;
    canvas.addEventListener("wheel", (event) => {
      // Scrolling the page must not stop here: the wheel zooms once the canvas has the focus, or with Ctrl.
      if (!event.ctrlKey && document.activeElement !== canvas) { return; }
      const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      const moved = sideways
        ? this.view.move((event.deltaX || event.deltaY) / this.plot(this.width).width * this.view.span)
        : this.view.zoom(Math.exp(Math.max(-1, Math.min(event.deltaY * 0.004, 1))), this.at(event.offsetX));
      if (moved || event.ctrlKey) { event.preventDefault(); }
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button) { return; }
      held.set(event.pointerId, event.offsetX);
      dragged = 0;
      pinch = 0;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = held.get(event.pointerId);
      if (before === undefined) {
        if (event.pointerType === "mouse") { this.point(event.offsetX, event.offsetY); }
        return;
      }
      held.set(event.pointerId, event.offsetX);
      if (held.size === 2) {
        const [one, two] = [...held.values()], apart = Math.max(Math.abs(one - two), 8);
        if (pinch) { this.view.zoom(pinch / apart, this.at((one + two) / 2)); }
        pinch = apart;
        dragged = Infinity;
        return;
      }
      dragged += Math.abs(event.offsetX - before);
      if (dragged > 4) {
        this.view.move((before - event.offsetX) / this.plot(this.width).width * this.view.span);
        canvas.classList.add("held");
      }
    });
    const letGo = (event) => {
      const known = held.delete(event.pointerId);
      pinch = 0;
      canvas.classList.remove("held");
      if (known && event.type === "pointerup" && dragged <= 4) { this.choose(event.offsetX, event.offsetY); }
    };
    canvas.addEventListener("pointerup", letGo);
    canvas.addEventListener("pointercancel", letGo);
    canvas.addEventListener("pointerleave", () => this.leave());
    canvas.addEventListener("dblclick", (event) => this.enter(event.offsetX, event.offsetY));
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) { return; }
      const action = this.keys(event.key, event.shiftKey) || this.commonKeys(event.key, event.shiftKey);
      if (action) { event.preventDefault(); action(); }
    });
    canvas.addEventListener("focus", () => this.redraw());
    canvas.addEventListener("blur", () => this.redraw());
  }

  commonKeys(key, shift) {
    const view = this.view, focus = () => this.focusPoint();
    return {
      "+": () => view.zoom(0.5, focus()), "=": () => view.zoom(0.5, focus()),
      "-": () => view.zoom(2, focus()), "_": () => view.zoom(2, focus()),
      "0": () => view.all(), Home: () => view.all(),
      ...(shift ? { ArrowLeft: () => view.move(-view.span / 4), ArrowRight: () => view.move(view.span / 4) } : {}),
    }[key];
  }

  // For those that follow: what is under the pointer, what was clicked, what keys mean besides.
  point() {}
  choose() {}
  leave() {}
  enter() {}
  keys() { return null; }
  focusPoint() { return undefined; }
}

// The marks of a time axis at the bottom, and where in the whole the window lies.
function drawTimeAxis(context, panel, height, colours) {
  const { left, width } = panel.plot(panel.width), view = panel.view, y = height - 24;
  const { marks, step } = ticks(view.from, view.to, Math.max(width / 110, 2));
  const [size, unit] = view.to >= 1e6 && step >= 1e4 ? [1e6, "ms"] : [1e3, "µs"];
  const places = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));
  context.font = "12px " + colours.font;
  context.textAlign = "center";
  context.textBaseline = "middle";
  marks.forEach((mark) => {
    const x = panel.x(mark);
    context.fillStyle = colours.grid;
    context.fillRect(Math.round(x), 8, 1, y - 8);
    const text = apart((mark / size).toFixed(places));
    const wide = context.measureText(text).width / 2;
    context.fillStyle = colours.muted;
    const middle = Math.max(x, wide);
    if (middle - x < 6 && middle + wide <= panel.width - 24) { context.fillText(text, middle, y + 12); }
  });
  context.textAlign = "right";
  context.fillText(unit, panel.width, y + 12);
  context.fillStyle = colours.grid;
  context.fillRect(left, 0, width, 3);
  if (!view.isWhole) {
    context.fillStyle = colours.accent;
    context.fillRect(left + view.from / view.whole * width, 0, Math.max(view.span / view.whole * width, 3), 3);
  }
}
