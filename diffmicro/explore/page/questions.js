// Questions to the server: one of a kind at a time, the newest wins; answers come line by line.

const running = new Map();

/**
 * Ask; `each` gets every line of the answer but the last. Resolves to the last line, `{end}` or `{error, key}`,
 * or to null where a newer question took this one's place.
 */
export async function ask(kind, question, each) {
  running.get(kind)?.abort();
  const stop = new AbortController();
  running.set(kind, stop);
  try {
    const reply = await fetch(`/answer/${kind}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(question),
      signal: stop.signal,
    });
    if (!reply.ok) return { error: await reply.text(), key: "" };
    return await lines(reply.body, (line) => stop.signal.aborted || each(line));
  } catch (problem) {
    if (stop.signal.aborted) return null;
    return { error: "The server does not answer. Is diffmicro explore still running?", key: "" };
  } finally {
    if (running.get(kind) === stop) running.delete(kind);
  }
}

/** End the question of a kind on the server, which answers with what it has. */
export function end(kind) {
  return fetch(`/end/${kind}`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: "{}",
  });
}

async function lines(body, each) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let last = null;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    for (const part of parts) {
      if (last) each(last);
      last = JSON.parse(part);
      if (!("end" in last || "error" in last)) { each(last); last = null; }
    }
  }
  return last ?? { error: "The server broke off; its terminal says why.", key: "" };
}
