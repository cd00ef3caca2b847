// Show a trace in Perfetto: in a frame if this server has Perfetto's files, otherwise in a new tab
// at ui.perfetto.dev. The page passes the trace to Perfetto in a message; no server receives it.
//
// The query of the page's URL selects the trace, like that of `trace`. It may also select an event:
// `at` is the event's start in Unix ns, and `dur` its duration in ns. The fragment is the theme,
// `light` or `dark`; without one, the page has the browser's.
const HOSTED = "https://ui.perfetto.dev";
const PING_MS = 50;
const POLL_MS = 50;
const LONGEST_START_MS = 20_000; // after this, the frame shows that Perfetto did not start
const SETTINGS = "perfettoSettings"; // Perfetto's key in the browser's storage
const FAILED = ".pf-modal-dialog, #app_load_failure_err:not(:empty)"; // Perfetto's error messages
const MB = 1_000_000;
// Perfetto starts with each process collapsed to one line; expand them all.
const STARTUP_COMMANDS = [{ id: "dev.perfetto.ExpandTracksByRegex", args: [".*"] }];

const query = new URLSearchParams(location.search);
const message = document.getElementById("message");
const button = document.getElementById("open");
const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
const theme = { "#light": "light", "#dark": "dark" }[location.hash] ?? (isDark ? "dark" : "light");
document.documentElement.style.colorScheme = theme;

// Return the fragment of Perfetto's URL that selects what it shows. Its times are ns since the
// trace's zero.
function route(base, interval) {
  const startupCommands = JSON.stringify(STARTUP_COMMANDS);
  const shown = new URLSearchParams({ mode: "embedded", startupCommands });
  if (interval) {
    const [from, to] = interval.split(" ");
    shown.set("visStart", from);
    shown.set("visEnd", to);
  }
  if (query.has("at") && query.has("dur")) {
    shown.set("ts", BigInt(query.get("at")) - base);
    shown.set("dur", query.get("dur"));
  }
  return `#!/viewer?${shown}`;
}

// Send the trace as soon as Perfetto answers a ping. Before that, Perfetto ignores messages.
// `isOwn` is true if Perfetto runs in a frame of this page.
function send(perfetto, origin, title, buffer, isOwn) {
  const ping = setInterval(() => {
    if (perfetto.closed) clearInterval(ping);
    else perfetto.postMessage("PING", origin);
  }, PING_MS);
  window.addEventListener("message", function answered(event) {
    if (event.source !== perfetto || event.data !== "PONG") return;
    clearInterval(ping);
    window.removeEventListener("message", answered);
    if (isOwn) leaveNoTraces(perfetto);
    const sent = { perfetto: { buffer, title, keepApiOpen: true } };
    perfetto.postMessage(sent, origin, isOwn ? [buffer] : []);
    document.body.dataset.sent = "yes";
  });
}

// Keep Perfetto from storing a copy of the trace in the browser, and from adding entries to the
// browser's history.
function leaveNoTraces(perfetto) {
  Object.defineProperty(perfetto, "caches", { value: undefined });
  perfetto.navigation?.addEventListener("navigate", (event) => {
    if (event.navigationType !== "push") return;
    event.preventDefault();
    perfetto.location.replace(event.destination.url);
  });
}

// Give Perfetto the theme of this page, before it starts. Without access to the browser's storage, it
// has its own.
function setTheme() {
  try {
    const settings = JSON.parse(localStorage.getItem(SETTINGS) ?? "{}");
    localStorage.setItem(SETTINGS, JSON.stringify({ ...settings, theme }));
  } catch (error) {
    console.warn(error);
  }
}

// Return the content of an answer. The message says how much of it has arrived.
function content(answer) {
  let bytes = 0;
  const counter = new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      message.textContent = `Reading the trace: ${(bytes / MB).toFixed(1)} MB`;
      controller.enqueue(chunk);
    },
  });
  return new Response(answer.body.pipeThrough(counter)).arrayBuffer();
}

// Show Perfetto as soon as it shows the trace or an error. Until then, show its progress.
function reveal(frame) {
  const began = Date.now();
  const poll = setInterval(() => {
    const app = frame.contentDocument && frame.contentWindow.app; // null if the browser shows an error
    const isLoaded = app?.trace && !app.isLoadingTrace;
    const isMissing = !app && Date.now() - began > LONGEST_START_MS;
    if (isLoaded || isMissing || frame.contentDocument?.querySelector(FAILED)) {
      clearInterval(poll);
      message.remove();
      frame.classList.remove("waits");
    } else if (app?.isLoadingTrace) {
      message.textContent = `Perfetto: ${app.omnibox?.statusMessage ?? "Opening trace"} …`;
    }
  }, POLL_MS);
}

async function show() {
  const answer = await fetch(`trace${location.search}`);
  if (!answer.ok) {
    message.textContent = await answer.text();
    return;
  }
  const title = decodeURIComponent(answer.headers.get("X-Trace-Title"));
  const base = BigInt(answer.headers.get("X-Trace-Base-Ns"));
  const shown = route(base, answer.headers.get("X-Trace-Shown-Ns"));
  if (answer.headers.get("X-Perfetto") === "here") {
    const frame = document.createElement("iframe");
    frame.src = `ui/index.html${shown}`;
    frame.title = title;
    frame.className = "waits";
    setTheme();
    document.body.append(frame);
    send(frame.contentWindow, location.origin, title, await content(answer), true);
    message.textContent = "Perfetto starts …";
    reveal(frame);
    return;
  }
  const buffer = await content(answer);
  message.textContent = "Perfetto opens in a new tab. The trace does not leave the browser.";
  button.hidden = false;
  button.addEventListener("click", () => {
    const opened = window.open(`${HOSTED}/${shown}`);
    if (opened) send(opened, HOSTED, title, buffer, false); // a second click sends it again
    else message.textContent = "The browser blocked the new tab. Allow this page to open tabs.";
  });
}

show().catch((error) => {
  message.textContent = `Cannot show the trace: ${error.message}`;
});
