// Replies: reasonable or not, and why not. A label is {reasonable: true | false | undefined, reason, comment}.

const COLUMNS = ["reasonable", "reason"];
const given = (label) => typeof label.reasonable === "boolean";
const row = (label) => [label.reasonable ? "yes" : "no", label.reason || ""];

function present(item, label) {
  $("who").textContent = `${item.player}, role: ${item.role}; ${item.time}. What the player knew:`;
  $("known").replaceChildren(...item.known.map((line) => element("li", line)));
  $("known").scrollTop = $("known").scrollHeight;
  $("asked").textContent = `The moderator asked the player to ${item.asked}. The reply:`;
  $("reply").textContent = item.reply;
  $("thoughts").hidden = !item.reasoning;
  $("reasoning").textContent = item.reasoning;
  $("yes").setAttribute("aria-pressed", String(label.reasonable === true));
  $("no").setAttribute("aria-pressed", String(label.reasonable === false));
  $("why").hidden = label.reasonable !== false;
  for (const box of $("why").querySelectorAll("input")) box.checked = box.value === label.reason;
}

function judge(reasonable) {
  set(reasonable ? { reasonable, reason: "" } : { reasonable });
  if (reasonable && at < sample.items.length - 1) go(at + 1);
}

function pressed(key) {
  if (key !== "y" && key !== "n") return false;
  judge(key === "y");
  return true;
}

for (const [name, told] of Object.entries(sample.reasons)) {
  const box = document.createElement("input");
  Object.assign(box, { type: "radio", name: "reason", value: name });
  box.addEventListener("change", () => set({ reason: name }));
  const line = element("label", ` ${name}: ${told}`);
  line.prepend(box);
  $("why").append(line);
  if (name !== "other") $("reasons-told").append(element("li", `${told.replace(/^it /, "")} (${name})`));
}
$("yes").addEventListener("click", () => judge(true));
$("no").addEventListener("click", () => judge(false));
$("clear").addEventListener("click", () => set({ reasonable: undefined, reason: "" }));
start();
