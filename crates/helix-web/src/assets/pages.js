// @ts-check
// What makes the pages lively: parts that are sent anew, counting times, keys. Every page can be read, and every form sent, without it.

const main = /** @type {HTMLElement} */ (document.getElementById('main'));

/** @param {ParentNode} within @param {string} selector @returns {HTMLElement[]} */
const all = (within, selector) => Array.from(within.querySelectorAll(selector));

// ---- Parts

/** Whether somebody is about to do something in there. @param {Element} element */
function isBusy(element) {
  if (element.contains(document.activeElement) && document.activeElement?.matches('textarea, input, button')) return true;
  return all(element, 'textarea').some((field) => /** @type {HTMLTextAreaElement} */ (field).value !== '') || element.querySelector('details.act[open]') !== null;
}

/** Puts a new element in the place of an old one, with what was opened in it. @param {Element} old @param {Element} next */
function replace(old, next) {
  const focused = old.contains(document.activeElement) ? document.activeElement?.getAttribute('href') : null;
  const was = all(old, 'details').map((one) => /** @type {HTMLDetailsElement} */ (one).open);
  all(next, 'details').forEach((one, at) => { if (was[at] !== undefined) /** @type {HTMLDetailsElement} */ (one).open = was[at]; });
  old.replaceWith(next);
  if (focused) all(next, 'a').find((link) => link.getAttribute('href') === focused)?.focus({ preventScroll: true });
}

/** Brings an element up to date; whether all of it is, and nothing was left to somebody who is busy there. @param {Element} old @param {Element} next */
function merge(old, next) {
  if (/** @type {HTMLElement} */ (old).dataset.v !== /** @type {HTMLElement} */ (next).dataset.v) {
    if (isBusy(old)) return false;
    replace(old, next);
    return true;
  }
  let whole = true;
  for (const list of [next, ...all(next, '[data-list]')].filter((one) => one.hasAttribute('data-list'))) {
    const place = document.getElementById(list.id);
    if (place && !mergeList(place, list)) whole = false;
  }
  for (const part of all(next, '[data-v]').filter((one) => one.id && !one.closest('[data-list]'))) {
    const place = document.getElementById(part.id);
    if (place && place.dataset.v !== part.dataset.v) replace(place, part);
  }
  return whole;
}

/** Brings a list up to date, entry by entry; whether all of it is. @param {Element} old @param {Element} next */
function mergeList(old, next) {
  let whole = true;
  const wanted = Array.from(next.children);
  const ids = new Set(wanted.map((one) => one.id));
  for (const entry of Array.from(old.children)) if (!ids.has(entry.id)) entry.remove();
  wanted.forEach((entry, at) => {
    let here = document.getElementById(entry.id);
    if (!here) {
      here = /** @type {HTMLElement} */ (entry);
    } else if (here.dataset.v !== /** @type {HTMLElement} */ (entry).dataset.v) {
      if (isBusy(here)) {
        whole = false;
      } else {
        replace(here, entry);
        here = /** @type {HTMLElement} */ (entry);
      }
    }
    if (old.children[at] !== here) old.insertBefore(here, old.children[at] ?? null);
  });
  return whole;
}

/** The elements of a text. @param {string} html */
function elements(html) {
  const template = document.createElement('template');
  template.innerHTML = html;
  return Array.from(template.content.children);
}

/** Parts that wait until nothing is about to be clicked, the newest of each id: the server sends none of them again. @type {Map<string, Element>} */
const waiting = new Map();

/** Puts what waits in its place. @param {boolean} atOnce whatever the pointer is on */
function apply(atOnce = false) {
  // Nothing moves below a pointer that is on a control.
  if (!atOnce && document.querySelector('main button:hover, main summary:hover, main a.button:hover')) return;
  for (const [id, part] of waiting) {
    const place = document.getElementById(id);
    if (!place || merge(place, /** @type {Element} */ (part.cloneNode(true)))) waiting.delete(id);
  }
  search();
  count();
}
document.addEventListener('pointermove', () => { if (waiting.size) apply(); });
document.addEventListener('focusout', () => setTimeout(() => { if (waiting.size) apply(); }));

/** Adds an item of an activity, or replaces it. @param {string} html */
function item(html) {
  // Items of another run belong to the list of that run.
  if (waiting.has('panel')) apply(true);
  const list = document.getElementById('items');
  const [next] = elements(html);
  if (!list || !next) return;
  const atEnd = window.innerHeight + window.scrollY > document.body.scrollHeight - 80 && window.scrollY > 0;
  const old = list.querySelector(`#${CSS.escape(next.id)}`);
  if (old) replace(old, next); else list.append(next);
  if (atEnd) window.scrollTo({ top: document.body.scrollHeight });
}

function follow() {
  const address = main?.dataset.live;
  if (!address) return;
  const items = document.getElementById('items');
  const source = new EventSource(items ? `${address}&run=${items.dataset.run}&after=${items.dataset.heard}` : address);
  const lost = document.getElementById('connection');
  const show = (/** @type {boolean} */ hidden) => { if (lost) lost.hidden = hidden; };
  source.addEventListener('open', () => show(true));
  source.addEventListener('error', () => {
    show(false);
    // A host that was away for longer may have another mind about who is logged in.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => { source.close(); follow(); }, 3000);
  });
  source.addEventListener('part', (event) => {
    for (const part of elements(event.data)) waiting.set(part.id, part);
    apply();
  });
  source.addEventListener('item', (event) => item(event.data));
  window.addEventListener('pagehide', () => source.close());
}

// ---- Times

/** As the server writes lengths of time. @param {number} seconds */
function length(seconds) {
  const whole = Math.floor(seconds);
  const two = (/** @type {number} */ number) => String(number).padStart(2, '0');
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${two(Math.floor(whole / 60) % 60)} min`;
}

function count() {
  const now = performance.now();
  for (const one of all(document, '[data-seconds]')) {
    const since = Number(one.dataset.since ?? (one.dataset.since = String(now)));
    one.textContent = length(Number(one.dataset.seconds) + (now - since) / 1000);
  }
}

function relate() {
  const format = new Intl.RelativeTimeFormat(document.documentElement.lang, { style: 'short', numeric: 'auto' });
  for (const one of all(document, 'time[data-ago]')) {
    const seconds = (Date.now() - Date.parse(one.getAttribute('datetime') ?? '')) / 1000;
    if (seconds < 60) continue;
    const [unit, size] = seconds < 3600 ? ['minute', 60] : seconds < 86400 ? ['hour', 3600] : ['day', 86400];
    one.textContent = format.format(-Math.floor(seconds / Number(size)), /** @type {Intl.RelativeTimeFormatUnit} */ (unit));
  }
}
setInterval(count, 1000);
setInterval(relate, 30000);

// ---- Search

const field = /** @type {HTMLInputElement | null} */ (document.getElementById('search'));

function search() {
  const words = (field?.value ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  for (const card of all(document, '[data-find]')) card.hidden = !words.every((word) => card.dataset.find?.includes(word));
}
field?.addEventListener('input', search);
field?.closest('form')?.addEventListener('submit', (event) => { event.preventDefault(); search(); });

// ---- Copying

document.addEventListener('click', (event) => {
  const code = event.target instanceof Element ? event.target.closest('[data-copy]') : null;
  if (!code) return;
  navigator.clipboard?.writeText(code.textContent ?? '');
  code.classList.add('copied');
  setTimeout(() => code.classList.remove('copied'), 1200);
});

// ---- Keys

/** @type {Record<string, string>} */
const places = { b: '/', q: '/questions', d: '/decisions', s: '/system' };
let before = '';

/** Goes to the next thing that can be opened, or to the one before. @param {number} step */
function move(step) {
  const open = all(main, 'a.open, .items summary').filter((one) => one.offsetParent !== null);
  const at = open.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const next = at < 0 ? (step > 0 ? 0 : open.length - 1) : at + step;
  open[Math.min(Math.max(next, 0), open.length - 1)]?.focus();
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const at = /** @type {HTMLElement} */ (event.target);
  if (at.matches('textarea, input, select')) {
    if (event.key === 'Escape') at.blur();
    return;
  }
  const keys = /** @type {HTMLDialogElement | null} */ (document.getElementById('keys'));
  if (keys?.open) return;
  const was = before;
  before = event.key;
  if (was === 'g' && places[event.key]) { location.assign(places[event.key]); return; }
  switch (event.key) {
    case 'j': move(1); break;
    case 'k': move(-1); break;
    case 'a': /** @type {HTMLElement | null} */ (main.querySelector('.question textarea, .question button'))?.focus(); break;
    case '/': field?.focus(); break;
    case '?': keys?.showModal(); break;
    case 'Escape': if (location.pathname !== '/') { if (document.referrer.startsWith(location.origin)) history.back(); else location.assign('/'); } break;
    default: return;
  }
  event.preventDefault();
});

document.documentElement.classList.add('js');
count();
search();
follow();
