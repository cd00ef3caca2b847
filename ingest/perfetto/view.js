// Shows a trace in Perfetto: in a frame if this server has its files, else at ui.perfetto.dev, in a
// new tab. The page hands it the trace in a message; no server receives it.
//
// The address names the trace, as `trace` does, and may name an event to select: `at`, its start in
// Unix ns, and `dur`.
const HOSTED = "https://ui.perfetto.dev";
const PING_MS = 50;
// Perfetto shows each process as one line at first.
const AT_START = [{ id: "dev.perfetto.ExpandTracksByRegex", args: [".*"] }];

const asked = new URLSearchParams(location.search);
const message = document.getElementById("message");
const button = document.getElementById("open");

// The part of Perfetto's address that says what to show. Times are ns since the trace's zero.
function route(base, stretch) {
  const shown = new URLSearchParams({ mode: "embedded", startupCommands: JSON.stringify(AT_START) });
  if (stretch) {
    const [from, to] = stretch.split(" ");
    shown.set("visStart", from);
    shown.set("visEnd", to);
  }
  if (asked.has("at") && asked.has("dur")) {
    shown.set("ts", BigInt(asked.get("at")) - base);
    shown.set("dur", asked.get("dur"));
  }
  return `#!/viewer?${shown}`;
}

// Perfetto ignores messages until it is ready, and says when it is.
function send(perfetto, origin, title, buffer, isOwn) { // own: in a frame of this page
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

// Perfetto keeps a copy of a trace in the browser, and changes its address, which would be steps for
// the browser's Back.
function leaveNoTraces(perfetto) {
  Object.defineProperty(perfetto, "caches", { value: undefined });
  perfetto.navigation?.addEventListener("navigate", (event) => {
    if (event.navigationType !== "push") return;
    event.preventDefault();
    perfetto.location.replace(event.destination.url);
  });
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
    document.body.append(frame);
    send(frame.contentWindow, location.origin, title, await answer.arrayBuffer(), true);
    message.remove();
    return;
  }
  const buffer = await answer.arrayBuffer();
  message.textContent = "Perfetto shows this part in a new tab. The trace does not leave the browser.";
  button.hidden = false;
  button.addEventListener("click", () => {
    const opened = window.open(`${HOSTED}/${shown}`);
    if (opened) send(opened, HOSTED, title, buffer, false); // a second click sends it again
    else message.textContent = "The browser blocked the new tab: allow this page to open one.";
  });
}

show().catch((error) => {
  message.textContent = `The trace cannot be shown: ${error.message}`;
});
