// A search through the whole page: rows that are folded away, names broken over two lines and the timelines' slices
// included. Hits are marked without a change to the page where the browser can.

const MOST_MARKED = 1000;
const BLOCKS = "h1,h2,h3,p,caption,th,td,dt,dd,li,figcaption,summary";

const plain = (text) => text.toLowerCase().replace(/\s/g, " ");

// The words of an element and the nodes that they stand in; what fills a column or says where a link leads is none.
function wordsOf(block) {
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) =>
    node.nodeType === Node.ELEMENT_NODE
      ? (node.matches(".pad,.vh,.go,script,button.copy,input") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP)
      : NodeFilter.FILTER_ACCEPT);
  const nodes = [];
  let text = "";
  while (walker.nextNode()) {
    nodes.push({ node: walker.currentNode, at: text.length });
    text += walker.currentNode.data;
  }
  return { block, nodes, text: plain(text) };
}

function readTexts(root) {
  return [...root.querySelectorAll(BLOCKS)]
    .filter((block) => !block.querySelector(BLOCKS) && !block.closest(".explorer")).map(wordsOf);
}

function rangeOf({ nodes }, from, to) {
  const holding = (at) => nodes.findLast((one) => one.at <= at);
  const range = document.createRange(), start = holding(from), end = holding(to - 1);
  range.setStart(start.node, from - start.at);
  range.setEnd(end.node, to - end.at);
  return range;
}

class Search {
  constructor(form, reveal, timelines) {
    Object.assign(this, { form, reveal, timelines, hits: [], now: -1, waiting: 0 });
    this.input = form.querySelector("input");
    this.count = form.querySelector("output");
    const [back, , close] = form.querySelectorAll("button");
    this.input.addEventListener("input", () => {
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.find(), 120);
    });
    form.addEventListener("submit", (event) => { event.preventDefault(); this.go(1); });
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.shiftKey) { event.preventDefault(); this.go(-1); }
    });
    form.addEventListener("keydown", (event) => { if (event.key === "Escape") { this.close(); } });
    back.addEventListener("click", () => this.go(-1));
    close.addEventListener("click", () => this.close());
    this.opener = document.getElementById("find");
    this.opener.hidden = false;
    this.opener.addEventListener("click", () => (this.form.hidden ? this.open() : this.close()));
    document.addEventListener("keydown", (event) => {
      const isMeant = !event.ctrlKey && !event.metaKey && !event.altKey && event.target.tagName !== "INPUT";
      if (event.key !== "/" || !isMeant) { return; }
      event.preventDefault();
      this.open();
    });
  }

  open() {
    this.form.hidden = false;
    this.opener.setAttribute("aria-expanded", "true");
    this.input.focus();
    this.input.select();
  }

  close() {
    this.form.hidden = true;
    this.opener.setAttribute("aria-expanded", "false");
    this.input.value = "";
    this.find();
    this.opener.focus({ preventScroll: true });
  }

  find() {
    clearTimeout(this.waiting);
    const words = plain(this.input.value.trim());
    this.asked = words;
    this.hits = [];
    this.now = -1;
    if (words) {
      readTexts(document.getElementById("main")).forEach((text) => {
        for (let at = text.text.indexOf(words); at >= 0; at = text.text.indexOf(words, at + words.length)) {
          this.hits.push({ text, from: at, to: at + words.length });
        }
      });
    }
    this.inTimelines = this.timelines().reduce((sum, timeline) => sum + timeline.search(words), 0);
    this.mark();
    this.tell();
  }

  go(by) {
    if (plain(this.input.value.trim()) !== this.asked) { this.find(); }
    if (!this.hits.length) { return; }
    this.now = this.now < 0 && by < 0 ? this.hits.length - 1 : (this.now + by + this.hits.length) % this.hits.length;
    const { block } = this.hits[this.now].text;
    this.reveal(block);
    block.scrollIntoView({ block: "center", inline: "nearest" });
    this.mark();
    this.tell();
  }

  mark() {
    document.querySelectorAll(".found").forEach((block) => block.classList.remove("found"));
    const now = this.hits[this.now];
    if (!window.CSS || !CSS.highlights) {
      if (now) { now.text.block.classList.add("found"); }
      return;
    }
    const ranges = (hits) => hits.map(({ text, from, to }) => rangeOf(text, from, to));
    CSS.highlights.set("hits", new Highlight(...ranges(this.hits.slice(0, MOST_MARKED))));
    CSS.highlights.set("hit", new Highlight(...(now ? ranges([now]) : [])));
  }

  tell() {
    if (!this.asked) { this.count.textContent = ""; return; }
    const also = this.inTimelines ? `, ${count(this.inTimelines)} in the timelines` : "";
    const now = this.hits[this.now];
    const heading = now && now.text.block.closest("section")?.querySelector("h2");
    const place = now ? `${this.now + 1} of ${count(this.hits.length)}${heading ? `: ${heading.textContent}` : ""}`
      : this.hits.length ? `${count(this.hits.length)} on this page` : "Nothing on this page";
    this.count.textContent = place + also;
  }
}
