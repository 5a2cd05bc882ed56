// The connection to the library: one WebSocket. Requests are JSON; an answer is a head as JSON with arrays behind it.

const PAUSES = [0.3, 0.6, 1, 2, 4, 8]; // seconds between attempts to connect
const REFUSED = 4403; // the code with which the lab turns a page away
const VIEWS = { "<f8": Float64Array, "<i4": Int32Array };

/** Read an answer: its head, with the arrays in it as typed arrays that have a shape. */
function decoded(buffer) {
  const size = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  for (const [name, [kind, at, shape]] of Object.entries(head.arrays)) {
    const length = shape.reduce((a, b) => a * b, 1);
    const array = new VIEWS[kind](buffer, 4 + size + at, length);
    array.shape = shape;
    head.arrays[name] = array;
  }
  return head;
}

export class Link {
  /** `heard` is called with "connected", "lost" or "refused", and the welcome of the server or the reason. */
  constructor(heard) {
    this.heard = heard;
    this.waiting = new Map(); // id -> what to do with the answer
    this.last = 0;
    this.tries = 0;
    this.connect();
  }

  connect() {
    clearTimeout(this.timer);
    const token = new URLSearchParams(location.search).get("token") ?? "";
    this.socket = new WebSocket(`ws://${location.host}/talk?token=${encodeURIComponent(token)}`);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = ({ data }) => this.receive(decoded(data));
    this.socket.onclose = ({ code, reason }) => this.lost(code, reason);
  }

  receive(head) {
    if (head.id === 0) {
      this.tries = 0;
      this.welcome = head;
      this.heard("connected", head);
      return;
    }
    const done = this.waiting.get(head.id);
    this.waiting.delete(head.id);
    done?.(head);
  }

  lost(code, reason) {
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const done of waiting) done({ lost: true, error: "The connection to the lab was lost." });
    const pause = PAUSES[Math.min(this.tries++, PAUSES.length - 1)];
    this.heard(code === REFUSED ? "refused" : "lost", reason);
    this.timer = setTimeout(() => this.connect(), 1000 * pause);
  }

  get open() {
    return this.socket.readyState === WebSocket.OPEN && Boolean(this.welcome);
  }

  /** Ask; the promise holds the answer, which has `error` if something was wrong. */
  ask(what, content = {}) {
    if (!this.open) return Promise.resolve({ lost: true, error: "The lab is not connected." });
    const id = ++this.last;
    return new Promise((done) => {
      this.waiting.set(id, done);
      this.socket.send(JSON.stringify({ do: what, id, ...content }));
    });
  }
}

/** Ask again and again for the newest thing: one question is under way, and only the last one waits behind it. */
export class Newest {
  constructor(ask) {
    this.ask = ask;
    this.busy = false;
    this.next = null;
  }

  async please(question) {
    this.next = question;
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.next !== null) {
        const now = this.next;
        this.next = null;
        await this.ask(now);
      }
    } finally {
      this.busy = false;
    }
  }
}
