"use strict";
// Makes an editor of each example. What a service answers is text here, and never markup.

const MOST_SHOWN = 200000;

const make = (name, className, text) => {
  const made = document.createElement(name);
  made.className = className ?? "";
  made.textContent = text ?? "";
  return made;
};

const button = (className, text, act) => {
  const made = make("button", className, text);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
};

const quoted = text => "'" + text.replaceAll("'", "'\\''") + "'";

// The reason of the fault that a message is.
const reason = text => {
  const envelope = new DOMParser().parseFromString(text, "application/xml").documentElement;
  const own = (element, name) => element?.localName === name && element.namespaceURI === envelope.namespaceURI;
  const body = [...envelope.children].find(child => own(child, "Body"));
  const fault = body?.firstElementChild;
  if (!own(fault, "Fault")) return undefined;
  const told = fault.getElementsByTagName("faultstring")[0] ?? fault.getElementsByTagNameNS("*", "Text")[0];
  return told?.textContent ?? "";
};

// The place that a reason names, as a range of the message: a value, or a tag.
const range = (reason, message) => {
  const named = /\(line (\d+), column (\d+)\)/.exec(reason);
  if (!named) return undefined;
  const lines = message.split("\n");
  const before = lines.slice(0, named[1] - 1).join("\n").length + (named[1] > 1 ? 1 : 0);
  // Columns are characters, and not the units of UTF-16.
  const from = before + [...(lines[named[1] - 1] ?? "")].slice(0, named[2] - 1).join("").length;
  const end = message[from] === "<" ? message.indexOf(">", from) + 1 : message.indexOf("<", from);
  return { from, to: Math.max(end, from + 1), text: `line ${named[1]}, column ${named[2]}` };
};

// XML with each tag in a line of its own, unless there is more in it than elements and text.
const indented = text => {
  if (/<!|<\?(?!xml )/.test(text) || !text.trimStart().startsWith("<")) return text;
  let depth = 0;
  return text.replace(/>\s*</g, ">\n<").split("\n").map(line => {
    if (line.startsWith("</")) depth -= 1;
    const shown = "  ".repeat(Math.max(depth, 0)) + line;
    if (/^<[^/?]/.test(line) && !/\/>$|<\//.test(line)) depth += 1;
    return shown;
  }).join("\n");
};

const edit = example => {
  const original = example.textContent;
  const { type, action, operation } = example.dataset;
  const data = example.closest("section").querySelector(".data");
  const marked = make("pre");
  marked.setAttribute("aria-hidden", "true");
  const area = make("textarea");
  area.value = original;
  area.spellcheck = false;
  area.setAttribute("aria-label", `Request to ${operation}`);
  const told = make("output");
  const answer = make("pre", "answer");
  answer.tabIndex = 0;
  answer.hidden = true;

  const mark = place => {
    const text = area.value;
    const parts = place ? [text.slice(0, place.from), make("mark", "", text.slice(place.from, place.to)), text.slice(place.to)] : [text];
    marked.replaceChildren(...parts, "\n ");
  };
  const tell = (className, ...parts) => {
    told.className = className;
    told.replaceChildren(...parts);
  };
  const changed = () => {
    mark();
    if (data) data.textContent = quoted(area.value);
  };

  const show = (response, text, time) => {
    answer.hidden = !text;
    answer.textContent = indented(text.slice(0, MOST_SHOWN));
    if (text.length > MOST_SHOWN) answer.textContent += `\n… ${text.length - MOST_SHOWN} more characters`;
    const took = `${response.status} ${response.statusText}, ${Math.round(time)} ms`;
    const fault = reason(text);
    if (fault === undefined) return tell(response.ok ? "good" : "bad", took);
    const place = range(fault, area.value);
    mark(place);
    if (!place) return tell("bad", `Fault: ${fault}`);
    const go = button("place", `show ${place.text}`, () => {
      area.focus();
      area.setSelectionRange(place.from, place.to);
    });
    tell("bad", `Fault: ${fault} `, go);
    marked.querySelector("mark").scrollIntoView({ block: "nearest", inline: "nearest" });
  };

  const submit = async () => {
    if (send.disabled) return;
    send.disabled = area.readOnly = true;
    mark();
    tell("", "Waiting for the answer…");
    const begun = performance.now();
    try {
      const headers = { "Content-Type": type };
      if (action !== undefined) headers.SOAPAction = action;
      const response = await fetch(location.pathname, { method: "POST", headers, body: area.value });
      show(response, await response.text(), performance.now() - begun);
    } catch (error) {
      answer.hidden = true;
      tell("bad", `No answer: ${error.message}`);
    }
    send.disabled = area.readOnly = false;
  };
  const send = button("send", "Send", submit);
  const reset = button("", "Reset", () => {
    area.value = original;
    answer.hidden = true;
    tell("");
    changed();
  });
  area.addEventListener("input", changed);
  area.addEventListener("keydown", event => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
  });

  const editor = make("div", "editor");
  editor.append(marked, area);
  const actions = make("div", "actions");
  actions.append(send, reset, told);
  example.replaceWith(editor, actions, answer);
  changed();
};

document.querySelectorAll("pre.request").forEach(edit);

if (navigator.clipboard) {
  for (const curl of document.querySelectorAll("pre.curl")) {
    const copy = button("", "Copy", async () => {
      await navigator.clipboard.writeText(curl.textContent);
      copy.textContent = "Copied";
    });
    const actions = make("div", "actions");
    actions.append(copy);
    curl.after(actions);
  }
}

const filter = document.querySelector("#filter");
if (filter) {
  const items = [...document.querySelectorAll("nav li")];
  filter.hidden = false;
  filter.addEventListener("input", () => {
    const wanted = filter.value.toLowerCase();
    for (const item of items) item.hidden = !item.textContent.toLowerCase().includes(wanted);
  });
}
