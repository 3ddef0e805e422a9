"""An animation as one page of HTML: its frames, a slider for time, and keys, without network or other files."""

import base64
from collections.abc import Sequence
from io import BytesIO

from PIL import Image

from diffmicro.plot.stage import RATE

COLORS = 128
"""Colors of a frame: drawings have few, and a third of the size is left."""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font-family: sans-serif; max-width: {width}px; margin: 1rem auto; background: #fff; color: #222; }}
img {{ width: 100%; display: block; }}
.row {{ display: flex; gap: 0.8rem; align-items: center; }}
input {{ flex: 1; }}
button {{ width: 5rem; padding: 0.3rem; }}
output {{ width: 9rem; text-align: right; font-variant-numeric: tabular-nums; }}
</style>
</head>
<body>
<img id="frame" alt="{title}" width="{width}" height="{height}">
<div class="row">
<button id="play" aria-pressed="false">Play</button>
<input id="time" type="range" min="0" max="{last}" value="0" aria-label="frame">
<output id="shown"></output>
</div>
<p>Space plays and stops; the arrow keys go frame by frame.</p>
<script>
const frames = [{frames}];
const rate = {rate};
const [image, play, time, shown] = ["frame", "play", "time", "shown"].map((id) => document.getElementById(id));
let timer = null;
function show(i) {{
  time.value = i;
  image.src = "data:image/png;base64," + frames[i];
  const place = "frame " + (+i + 1) + " of " + frames.length;  // the frame itself says the time of the motion
  shown.textContent = place;
  time.setAttribute("aria-valuetext", place);
}}
function toggle() {{
  if (timer) {{ clearInterval(timer); timer = null; }}
  else timer = setInterval(() => show((+time.value + 1) % frames.length), 1000 / rate);
  play.textContent = timer ? "Stop" : "Play";
  play.setAttribute("aria-pressed", String(Boolean(timer)));
}}
play.onclick = toggle;
time.oninput = () => show(+time.value);
document.onkeydown = (key) => {{
  if (key.key === " " && key.target !== play) {{ key.preventDefault(); toggle(); }}
  const way = {{ ArrowRight: 1, ArrowLeft: -1 }}[key.key];
  if (way && key.target !== time) show((+time.value + way + frames.length) % frames.length);
}};
show(0);
</script>
</body>
</html>
"""


def player(images: Sequence[Image.Image], title: str) -> str:
    """The page."""
    width, height = images[0].size
    frames = ",\n".join(f'"{_encoded(image)}"' for image in images)
    last = len(images) - 1
    return PAGE.format(title=title, width=width, height=height, last=last, frames=frames, rate=RATE)


def _encoded(image: Image.Image) -> str:
    content = BytesIO()
    image.quantize(COLORS).save(content, format="png", optimize=True)
    return base64.b64encode(content.getvalue()).decode()
