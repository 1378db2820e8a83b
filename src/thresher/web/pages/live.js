// Keeps an open page up to date, and writes its times as the reader's clock has them. Without it every page works.
//
// The server says that something has changed. Then this page is fetched again, and those of its parts that are
// marked `data-live` and read differently now are replaced. Nothing that a person is typing in, or has selected, is touched.
"use strict";

(() => {
  const MINUTE = 60, HOUR = 3600, DAY = 86400;
  const TICK = 30000, TIMEOUT = 20000, LATER = 5000, AGAIN = 15000;
  const shown = new Map();
  let stream = null, isFetching = false, isStale = false, isOver = false, isFull = false, leavesUntil = 0;

  const liveParts = (root) => [...root.querySelectorAll("[data-live][id]")];

  // Times: how long ago, or the date and time of the reader's zone. One click changes all. A day is a day everywhere.

  const wantsAbsolute = () => {
    try { return localStorage.getItem("times") === "absolute"; } catch { return false; }
  };

  const relative = (seconds) => {
    const away = Math.abs(seconds);
    if (away < 45) return seconds > 0 ? "in a moment" : "just now";
    const days = Math.round(away / DAY);
    const text = away < HOUR ? `${Math.max(1, Math.round(away / MINUTE))} min`
      : away < DAY ? `${Math.round(away / HOUR)} h`
      : `${days} day${days > 1 ? "s" : ""}`;
    return seconds > 0 ? `in ${text}` : `${text} ago`;
  };

  const writeTimes = (root) => {
    const now = Date.now(), isAbsolute = wantsAbsolute();
    for (const element of root.querySelectorAll("time[datetime*=T]")) { // a day is a day, whatever the hour
      const at = new Date(element.dateTime);
      if (Number.isNaN(at.getTime())) continue;
      const seconds = (at.getTime() - now) / 1000;
      const absolute = at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
      const isFar = Math.abs(seconds) >= 30 * DAY;
      const text = isAbsolute || isFar ? absolute : relative(seconds);
      if (element.textContent !== text) element.textContent = text;
      element.title = isAbsolute || isFar ? relative(seconds) : absolute;
    }
  };

  const offerTimes = () => {
    const place = document.getElementById("times");
    if (!place) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "plain small";
    const name = () => { button.textContent = wantsAbsolute() ? "Show how long ago" : "Show dates and times"; };
    button.addEventListener("click", () => {
      try { localStorage.setItem("times", wantsAbsolute() ? "relative" : "absolute"); } catch { return; }
      name();
      writeTimes(document);
    });
    name();
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    place.replaceChildren(`Times are those of ${zone} `, button);
  };

  // Live parts.

  // Whoever sends a form leaves this page; what it shows may be gone before the next one is there.
  addEventListener("submit", () => { leavesUntil = performance.now() + LATER; setTimeout(() => { if (isStale) refresh(); }, LATER + 1); });

  // A part that is being used stays as it is: a field in it, what was written into one, a selection, or a button
  // that is just pressed.
  let pressed = null;
  addEventListener("pointerdown", (event) => { pressed = event.target; }, true);
  for (const name of ["pointerup", "pointercancel", "dragend"]) {
    addEventListener(name, () => setTimeout(() => { pressed = null; }), true); // the click comes after it
  }

  const isEdited = (field) => {
    if (field.matches("select")) {
      const options = [...field.options], first = Math.max(0, options.findIndex((each) => each.defaultSelected));
      return field.selectedIndex !== first;
    }
    if (field.matches("[type=checkbox], [type=radio]")) return field.checked !== field.defaultChecked;
    return field.type !== "hidden" && field.value !== field.defaultValue;
  };

  const isBusy = (part) => {
    const focused = document.activeElement, chosen = document.getSelection();
    if (pressed && part.contains(pressed)) return true;
    if ([...part.querySelectorAll("input, select, textarea")].some(isEdited)) return true;
    if (focused && part.contains(focused) && focused.matches("input, select, textarea")) return true;
    return Boolean(chosen && !chosen.isCollapsed && chosen.anchorNode && part.contains(chosen.anchorNode));
  };

  const FOCUSABLE = "a[href], button, summary, input, select, textarea, [tabindex]";

  // Whoever walks with the keyboard stays where they were: at the same address, or at the same place in order.
  const keepFocus = (part, replace) => {
    const focused = document.activeElement;
    if (!focused || !part.contains(focused)) { replace(); return; }
    const place = [...part.querySelectorAll(FOCUSABLE)].indexOf(focused);
    const href = focused.getAttribute("href"), id = part.id;
    replace();
    const fresh = document.getElementById(id);
    const all = fresh ? [...fresh.querySelectorAll(FOCUSABLE)] : [];
    const next = all.find((each) => href && each.getAttribute("href") === href) || all[place];
    if (next) next.focus({ preventScroll: true });
  };

  const swap = (part, fresh) => {
    const opened = [...part.querySelectorAll("details[open][id]")].map((each) => each.id);
    keepFocus(part, () => part.replaceWith(fresh));
    for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
    writeTimes(fresh);
  };

  const say = (text) => {
    const place = document.getElementById("live-state");
    if (place) place.textContent = text;
  };

  const replaceParts = (page) => {
    let isLeft = false;
    for (const part of liveParts(document)) {
      const fresh = page.getElementById(part.id);
      if (!fresh || shown.get(part.id) === fresh.outerHTML) continue;
      if (isBusy(part)) { isLeft = true; continue; }
      shown.set(part.id, fresh.outerHTML);
      swap(part, document.adoptNode(fresh));
    }
    const banner = page.getElementById("banner"), here = document.getElementById("banner");
    if (banner && here && banner.innerHTML !== here.innerHTML) here.replaceWith(document.adoptNode(banner));
    return isLeft;
  };

  const end = (why) => {
    isOver = true;
    stream?.close();
    stream = null;
    say(why);
  };

  const LOGGED_OUT = "Not live: your login has ended; reload the page to log in";

  const refresh = async () => {
    if (document.hidden || isFetching || isOver || performance.now() < leavesUntil) { isStale = true; return; }
    isFetching = true;
    isStale = false;
    const began = performance.now();
    let isLeft = false;
    try {
      const answer = await fetch(location.href, {
        headers: { Accept: "text/html" }, redirect: "manual", signal: AbortSignal.timeout(TIMEOUT),
      });
      if (answer.type === "opaqueredirect") { end(LOGGED_OUT); return; }
      if (!answer.ok) { say(`Not live: the server answers with status ${answer.status}`); return; }
      isLeft = replaceParts(new DOMParser().parseFromString(await answer.text(), "text/html"));
      say(`Live, as of ${new Date().toLocaleTimeString()}`);
    } catch {
      say("Not live: the server does not answer");
    } finally {
      isFetching = false;
      // A server that is slow is asked less often: it never spends more than half of its time on this page.
      if (isLeft) setTimeout(refresh, LATER);
      else if (isStale && !isOver) setTimeout(refresh, Math.max(500, performance.now() - began));
    }
  };

  // A hidden page holds no connection: browsers open only six to one server.
  const connect = () => {
    if (document.hidden) {
      stream?.close();
      stream = null;
      return;
    }
    if (stream || isOver || "still" in document.body.dataset || !liveParts(document).length) return;
    stream = new EventSource("/live");
    stream.addEventListener("change", refresh);
    stream.addEventListener("logged-out", () => end(LOGGED_OUT));
    stream.addEventListener("open", () => { isFull = false; });
    stream.addEventListener("full", () => {
      isFull = true;
      say("Not live: the server keeps no further page up to date (web.live_pages)");
    });
    stream.addEventListener("error", onError);
  };

  // The browser connects again by itself, unless the server has refused: then we ask why, and try later.
  const onError = () => {
    if (!stream) return;
    if (stream.readyState !== EventSource.CLOSED) {
      if (!isFull) say("Not live: connecting again");
      return;
    }
    stream = null;
    refresh();
    setTimeout(connect, AGAIN);
  };

  // The link to the first administrator has the token behind the #, which no server sees. Nor shall the history.
  const takeToken = () => {
    const token = new URLSearchParams(location.hash.slice(1)).get("token");
    if (!token) return;
    history.replaceState(null, "", location.pathname + location.search);
    const field = document.getElementById("token");
    if (!field) return;
    field.value = token;
    document.getElementById("name")?.focus();
  };

  // A field for the time zone of another one: the reader's, until they write something else.
  const offerZone = () => {
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    for (const field of document.querySelectorAll("input[data-own-zone]")) if (zone) field.value = zone;
  };

  takeToken();
  offerZone();
  for (const part of liveParts(document)) shown.set(part.id, part.outerHTML);
  offerTimes();
  writeTimes(document);
  setInterval(() => writeTimes(document), TICK);
  document.addEventListener("visibilitychange", connect);
  addEventListener("pagehide", () => { stream?.close(); stream = null; });
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  connect();
})();
