// Search without a server: the words of all pages are in one script, which is loaded when somebody searches. A
// script and not a request, because pages that are opened from a disk may make none.
"use strict";

const MAX_FOUND = 20;
const MAX_OF_PAGE = 3; // sections of one page, before other pages have had their turn
const AROUND = 70; // characters that are shown on either side of a word
const root = document.currentScript.dataset.root;
const query = document.getElementById("query");
const box = document.getElementById("found");
const count = document.getElementById("count");
const results = document.getElementById("results");
let loaded = null;

function load() {
  loaded ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = `${root}search-index.js`;
    script.onload = () => done(PAGES);
    script.onerror = failed;
    document.head.append(script);
  });
  return loaded;
}

// Words begin where something else than a letter or digit stands before; "set" finds "settings", not "reset".
function pattern(word) {
  return new RegExp(`(?<![\\p{L}\\p{N}])${word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`, "iu");
}

// A title says more than a heading, and a heading more than a text. Every word has to be somewhere. What is asked
// for is rather how something is than how it came to be so.
const HISTORY = /^(decisions\/|changelog)/;

function score([address, title, heading, text], words) {
  let sum = 0;
  for (const word of words) {
    const here = (word.test(title) ? (heading ? 2 : 9) : 0) + (word.test(heading) ? 6 : 0) + (word.test(text) ? 1 : 0);
    if (here === 0) return 0;
    sum += here;
  }
  return HISTORY.test(address) ? sum / 2 : sum;
}

// The best first, but no page with many sections keeps the others out of sight.
function ranked(pages, words) {
  const turns = new Map();
  const found = pages
    .map((page) => [score(page, words), page])
    .filter(([points]) => points > 0)
    .sort(([one], [other]) => other - one)
    .map(([, page]) => {
      const turn = turns.get(page[1]) ?? 0;
      turns.set(page[1], turn + 1);
      return [turn >= MAX_OF_PAGE, page];
    });
  return found.sort(([one], [other]) => one - other).map(([, page]) => page);
}

function excerpt(text, words) {
  const first = words.map((word) => word.exec(text)).find(Boolean);
  const at = first ? first.index : 0;
  const from = at <= AROUND ? 0 : text.indexOf(" ", at - AROUND) + 1; // whole words
  const until = at + AROUND;
  const end = until >= text.length ? text.length : text.lastIndexOf(" ", until);
  const line = document.createElement("p");
  line.append(from ? "… " : "", text.slice(from, Math.max(from, at)));
  if (first) {
    const mark = document.createElement("mark");
    mark.textContent = first[0];
    line.append(mark);
  }
  line.append(text.slice(at + (first ? first[0].length : 0), end), end < text.length ? " …" : "");
  return line;
}

function row([address, title, heading, text], words) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = root + address;
  link.textContent = heading ? `${title}: ${heading}` : title;
  item.append(link, excerpt(text, words));
  return item;
}

async function search() {
  const said = query.value.trim();
  box.hidden = said === "";
  if (box.hidden) return;
  const pages = await load();
  if (query.value.trim() !== said) return; // somebody typed on
  const words = said.split(/\s+/).map(pattern);
  const found = ranked(pages, words);
  const more = found.length > MAX_FOUND ? `; the first ${MAX_FOUND} are shown` : "";
  count.textContent = found.length ? `${found.length} found${more}` : `Nothing was found for “${said}”.`;
  results.replaceChildren(...found.slice(0, MAX_FOUND).map((page) => row(page, words)));
}

document.querySelector("search").hidden = false;
query.addEventListener("focus", load);
query.addEventListener("input", search);
query.addEventListener("keydown", async (event) => {
  if (event.key !== "Enter" || event.isComposing) return;
  await search();
  if (!box.hidden) results.querySelector("a")?.click();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !box.hidden) {
    query.value = "";
    search();
    query.focus();
  } else if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && document.activeElement !== query) {
    event.preventDefault();
    query.focus();
  }
});
results.addEventListener("click", () => {
  query.value = "";
  box.hidden = true;
});
// On a phone the list of pages is in the way until somebody wants it.
if (matchMedia("(max-width: 60rem)").matches) document.querySelector(".side")?.removeAttribute("open");
