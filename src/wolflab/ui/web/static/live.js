// Traffic with the server: requests, the live connection, and texts that must not be lost.

import { useCallback, useEffect, useMemo, useRef, useState } from "./vendor/hooks.module.js";
import { at } from "./place.js";

export const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** One request, JSON both ways. `status` is 0 without an answer; `error` is a sentence for the person. */
export async function request(method, path, body, { ticket, keepalive = false } = {}) {
  const headers = { "Content-Type": "application/json" };
  if (ticket) headers["X-Ticket"] = ticket;
  const limit = new AbortController();
  const clock = setTimeout(() => limit.abort(), 12000);
  try {
    const answer = await fetch(at(path), {
      referrerPolicy: "same-origin", // it says below which path this page lies: cookies are for there
      method, headers, keepalive, credentials: "same-origin", cache: "no-store", signal: limit.signal,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const data = await answer.json().catch(() => ({}));
    const error = answer.ok ? "" : data.error || `The server refused this (${answer.status}).`;
    return { ok: answer.ok, status: answer.status, data, error };
  } catch {
    return { ok: false, status: 0, data: {}, error: "The server cannot be reached. Try again in a moment." };
  } finally {
    clearTimeout(clock);
  }
}

export const post = (path, body = {}, options) => request("POST", path, body, options);

// -- the live connection

const REFUSED = "The server does not let this page in. Open the whole link that you were sent.";
const SILENCE = 30000; // milliseconds: after so long without a word the connection counts as lost
const NOTHING = { log: [], now: null, first: {}, clock: 0, link: "opening", sentence: "", status: 0 };

/**
 * Why a connection was refused before it opened: browsers do not say. So the same address is tried
 * with a request that changes nothing. The sentence is "" if the address answers and only the network was at fault.
 */
async function whyNot(path, ticket) {
  const base = path.replace(/(host\/)?live$/, "");
  const opened = await post(base + (base.includes("/s/") ? "draft" : "enter"), {}, { ticket });
  if (opened.status >= 400 && opened.status < 500) return [opened.error, opened.status];
  const home = await request("GET", "/home");
  if (home.data.needs_access) return [home.data.error];
  return [home.ok && path.includes("/host/") ? "Only the host may see this while people play." : ""];
}

/** Keep one WebSocket open, and reconnect it when it breaks. Returns the function that ends it. */
function connect(path, ticket, show) {
  let state = NOTHING;
  let socket = null;
  let timer = 0;
  let tries = 0;
  let heard = 0; // when the server last said something
  let ended = false;

  function set(change) {
    state = { ...state, ...change };
    show(state);
  }

  function merge(message) {
    if (message.from > state.log.length) return socket.close(); // a gap: the next connection asks for what is missing
    tries = 0;
    const log = message.log.length || message.from < state.log.length
      ? [...state.log.slice(0, message.from), ...message.log] : state.log;
    const clock = message.clock - performance.now() / 1000;
    set({ log, clock, now: message.now, first: message.first || state.first, link: "open", sentence: "" });
  }

  function lost(code, reason) {
    socket = null;
    if (ended) return;
    if (state.link === "closed" || (code >= 4400 && code < 4500)) {
      return refuse(state.sentence || reason || REFUSED, code - 4000);
    }
    set({ link: "lost" });
    if (!state.now) {
      whyNot(path, ticket).then(([sentence, status]) => sentence && !ended && refuse(sentence, status));
    }
    timer = setTimeout(open, Math.min(500 * 2 ** tries, 8000));
    tries += 1;
  }

  function refuse(sentence, status = 0) {
    set({ link: "closed", sentence, status });
    stop();
  }

  function open() {
    clearTimeout(timer);
    if (ended || socket) return;
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const mine = new WebSocket(`${scheme}//${location.host}${at(path)}?since=${state.log.length}`);
    socket = mine;
    heard = performance.now();
    mine.onopen = () => ticket && mine.send(JSON.stringify({ ticket }));
    mine.onmessage = (event) => {
      const message = JSON.parse(event.data);
      heard = performance.now();
      if ("ping" in message) mine.send(JSON.stringify({ pong: message.ping }));
      else if ("closed" in message) set({ link: "closed", sentence: message.closed });
      else merge(message);
    };
    mine.onclose = (event) => mine === socket && lost(event.code, event.reason);
  }

  /** A phone that wakes up often holds a dead socket; do not wait for the network to notice. */
  function wake() {
    if (document.visibilityState === "hidden") return;
    if (socket && performance.now() - heard > 10000) drop();
    else open();
  }

  function drop() {
    const old = socket;
    socket = null;
    old.close();
    tries = 0;
    set({ link: "lost" });
    open();
  }

  const watch = setInterval(() => socket && performance.now() - heard > SILENCE && drop(), 5000);
  const wakers = [[window, "online"], [window, "pageshow"], [document, "visibilitychange"]];
  for (const [where, what] of wakers) where.addEventListener(what, wake);

  function stop() {
    ended = true;
    clearTimeout(timer);
    clearInterval(watch);
    for (const [where, what] of wakers) where.removeEventListener(what, wake);
    if (socket) socket.close();
  }

  open();
  return stop;
}

/**
 * The table's present state: the log, `now`, the first message (`first`), how far the server's clock is
 * ahead of ours (`clock`), and the connection (`link`; `sentence` says why it is closed, and `status` with which
 * number, as of a request).
 */
export function useLive(path, ticket = "") {
  const [live, setLive] = useState(NOTHING);
  useEffect(() => connect(path, ticket, setLive), [path, ticket]);
  return live;
}

// -- a seat: its requests, and data that this tab keeps until the server has them

/** `ticket` is for a shared device. Such a device keeps nothing in the tab: the next person could read it. */
export function makeSeat(base, ticket = "") {
  const keep = (name, value) => {
    if (ticket) return;
    if (value === null) sessionStorage.removeItem(`${base}${name}`);
    else sessionStorage.setItem(`${base}${name}`, JSON.stringify(value));
  };
  const kept = (name) => (ticket ? null : JSON.parse(sessionStorage.getItem(`${base}${name}`) || "null"));
  const send = (what, body, options) => post(base + what, body, { ticket, ...options });
  return { base, ticket, shared: Boolean(ticket), keep, kept, send };
}

/**
 * The signals of a statement that a study announced: whether text was pasted into its draft, and for how many
 * seconds the page was hidden while it was due. `due`: the ask's id, "" if none is due. If `on` is false,
 * nothing is observed or sent. The counts are kept in this tab: a reloaded page goes on counting.
 */
export function useSignals(seat, on, due) {
  const counted = useRef(null);
  counted.current ??= { pasted: false, due: "", away: 0, since: 0, ...(on ? seat.kept("signals") : null) };

  const look = useCallback(() => { // since: when the page went out of sight, in milliseconds; 0: it is in sight
    const { away, since } = counted.current;
    const now = Date.now();
    counted.current.away = away + (since ? Math.max(0, now - since) / 1000 : 0);
    counted.current.since = document.visibilityState === "hidden" ? now : 0;
    seat.keep("signals", counted.current);
  }, [seat]);

  useEffect(() => {
    if (!on || !due) return undefined;
    if (counted.current.due !== due) Object.assign(counted.current, { due, away: 0, since: 0 });
    look();
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [on, due, look]);

  /** A change of the draft; `how`: its `inputType`. */
  const typed = useCallback((how) => {
    if (!on || !/^insertFrom(Paste|Drop|Yank)/.test(how || "")) return;
    counted.current.pasted = true;
    seat.keep("signals", counted.current);
  }, [seat, on]);

  /** Send a statement with its signals; any other answer as it is. Counting goes on if the server refuses it. */
  const sending = useCallback(async (body, send) => {
    if (!on || !body.said) return send(body);
    look();
    const { pasted, away } = counted.current;
    counted.current.pasted = false; // the next draft begins
    seat.keep("signals", counted.current);
    const taken = await send({ ...body, pasted, away: Math.round(away * 10) / 10 });
    if (!taken) counted.current.pasted ||= pasted;
    return taken;
  }, [seat, on, look]);

  return useMemo(() => ({ typed, sending }), [typed, sending]);
}

/** Whether sending may succeed later: no answer, too many requests, or a fault of the server. */
const comesAgain = ({ status }) => status === 0 || status === 429 || status >= 500;

/** A text ("draft" or "notes") that the server keeps. Only its first one is used: typing always wins. */
export function useKeptText(seat, field, fromServer) {
  const [text, setText] = useState(() => seat.kept(field) ?? fromServer ?? "");
  const unsaved = useRef(seat.kept(field));
  const timer = useRef(0);
  const gone = useRef(false); // nobody looks at it any more: what cannot be saved now is not tried again

  const save = useCallback(async (keepalive = false) => {
    clearTimeout(timer.current);
    const saving = unsaved.current;
    if (saving === null) return;
    const answer = await seat.send("draft", { [field]: saving }, { keepalive });
    if (unsaved.current !== saving) return; // typed on; the next save is already on its way
    if (answer.ok) {
      unsaved.current = null;
      seat.keep(field, null);
    } else if (comesAgain(answer) && !gone.current) {
      timer.current = setTimeout(save, 3000);
    }
  }, [seat, field]);

  const typed = useCallback((value) => {
    setText(value);
    unsaved.current = value;
    seat.keep(field, value);
    clearTimeout(timer.current);
    timer.current = setTimeout(save, 600);
  }, [seat, field, save]);

  useEffect(() => {
    const leaving = () => save(true);
    gone.current = false;
    window.addEventListener("pagehide", leaving);
    save();
    return () => {
      window.removeEventListener("pagehide", leaving);
      gone.current = true;
      leaving();
      clearTimeout(timer.current);
    };
  }, [save]);

  return { text, typed };
}

/**
 * The answers of this tab: ask id → {state, shown, sentence}.
 * State: "sending", "retrying" (not taken yet; the same body goes out again), "kept", "late" (409), "refused".
 */
export function useAnswers(seat) {
  const [answers, setAnswers] = useState({});
  const gone = useRef(false);

  const send = useCallback(async (body, shown, draft = "", phase = "") => {
    const set = (state, sentence = "") => {
      const answer = { state, shown, sentence, draft, phase, at: performance.now() };
      setAnswers((before) => ({ ...before, [body.ask]: answer }));
    };
    const keep = (answer) => seat.keep("answers", { ...seat.kept("answers"), [body.ask]: answer });
    set("sending");
    keep({ body, shown, draft, phase });
    for (let wait = 500; !gone.current; wait = Math.min(2 * wait, 8000)) {
      const answer = await seat.send("answer", body);
      if (!comesAgain(answer)) {
        keep(undefined);
        set(answer.ok ? "kept" : answer.status === 409 ? "late" : "refused", answer.error);
        return answer.ok;
      }
      set("retrying");
      await pause(wait);
    }
    return false;
  }, [seat]);

  useEffect(() => {
    gone.current = false;
    const pending = Object.values(seat.kept("answers") || {}); // the page was reloaded before the server had answered
    for (const one of pending) send(one.body, one.shown, one.draft, one.phase);
    return () => { gone.current = true; };
  }, [seat, send]);

  return useMemo(() => ({ all: answers, send }), [answers, send]);
}
