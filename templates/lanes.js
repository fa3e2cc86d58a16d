// Lanes of a timeline: how the data of one is read, which of its slices are seen, and how they are painted.

const ROW = 15, ROW_GAP = 1;
const MOST_DEPTHS = { host: 9, calls: 2, device: 3, parts: 1 };

// From the columns of the page's data to one array an attribute, with each slice's depth in its lane.
function readLane(lane) {
  const count = lane.s.length, start = new Float64Array(count), end = new Float64Array(count);
  const depth = new Uint8Array(count), open = [], most = MOST_DEPTHS[lane.kind];
  const rows = [];
  let at = 0;
  for (let index = 0; index < count; index++) {
    at += lane.s[index];
    start[index] = at;
    end[index] = at + lane.d[index];
    while (open.length && end[open[open.length - 1]] <= at) { open.pop(); }
    depth[index] = Math.min(open.length, most - 1);
    open.push(index);
    (rows[depth[index]] = rows[depth[index]] || []).push(index);
  }
  return { ...lane, start, end, depth, rows };
}

function cut(context, text, room) {
  if (context.measureText(text).width <= room) { return text; }
  let keep = Math.floor(room / context.measureText(text).width * text.length);
  while (keep > 1 && context.measureText(`${text.slice(0, keep)}…`).width > room) { keep -= 1; }
  return keep > 1 ? `${text.slice(0, keep)}…` : "";
}

// The first place of a row that can reach into what begins at `from`. The last row of a lane may hold overlaps.
function first(lane, row, from) {
  let low = 0, high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane.start[row[middle]] < from) { low = middle + 1; } else { high = middle; }
  }
  return Math.max(low - (lane.depth[row[0]] === MOST_DEPTHS[lane.kind] - 1 ? 64 : 1), 0);
}

// Add a slice to the pixels that it covers.
function cover(columns, colour, from, to, left, width) {
  if (!columns.has(colour)) { columns.set(colour, new Float32Array(width + 1)); }
  const shares = columns.get(colour);
  for (let pixel = Math.floor(from - left); pixel <= to - left && pixel <= width; pixel++) {
    if (pixel >= 0) { shares[pixel] += Math.max(Math.min(to - left, pixel + 1) - Math.max(from - left, pixel), 0); }
  }
}

// A pixel's colours stand on each other, each as high as its share of the pixel.
function drawColumns(context, columns, left, top, colours, isDim) {
  const height = new Float32Array([...columns.values()].reduce((most, shares) => Math.max(most, shares.length), 0));
  columns.forEach((shares, colour) => {
    context.fillStyle = colour === "dim" ? colours.muted : colour;
    context.globalAlpha = isDim ? 0.3 : 1;
    shares.forEach((share, pixel) => {
      if (share <= 0) { return; }
      const high = Math.max(Math.min(share, 1) * ROW, 0.7);
      context.fillRect(left + pixel, top + ROW - height[pixel] - high, 1, high);
      height[pixel] = Math.min(height[pixel] + high, ROW - 0.7);
    });
  });
  context.globalAlpha = 1;
}

function hatch(context, x, top, wide, colour) {
  context.save();
  context.beginPath();
  context.rect(x, top, wide, ROW);
  context.clip();
  context.strokeStyle = colour;
  context.lineWidth = 0.7;
  context.beginPath();
  for (let at = Math.max(x, 0) - ROW; at < x + wide; at += 5) {
    context.moveTo(at, top + ROW);
    context.lineTo(at + ROW, top);
  }
  context.stroke();
  context.restore();
}
