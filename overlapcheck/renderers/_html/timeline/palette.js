// Colours and textures from the style sheet, for drawing on canvas.

class Palette {
  constructor(element, data, ratio) {
    this.ratio = ratio;
    const css = getComputedStyle(document.documentElement), get = (name) => css.getPropertyValue(name).trim();
    for (const name of ["text", "dim", "line", "bg", "band", "mark", "sans", "faint", "chosen"]) this[name] = get("--" + name);
    this.styles = new Map();
    const probe = document.createElement("span");
    element.append(probe);
    const look = (name) => {
      probe.className = "sw " + name;
      const own = getComputedStyle(probe), color = own.backgroundColor, light = luminance(color) > 0.3;
      const fill = this.texture(color, Number(own.getPropertyValue("--n")), get("--ink"));
      return { color, fill, text: light ? "#000" : "#fff" };
    };
    for (let kind = 0; kind <= RANGE; kind++) this.styles.set(kind, look("k" + kind));
    for (const [kind, [, color]] of Object.entries(data.causes)) this.styles.set(Number(kind), look(color));
    probe.remove();
  }

  of(kind) { return this.styles.get(kind); }

  texture(color, number, ink) {
    if (!number) return color;
    const size = 6 * this.ratio, tile = document.createElement("canvas"), c = tile.getContext("2d");
    tile.width = tile.height = size;
    c.fillStyle = color;
    c.fillRect(0, 0, size, size);
    c.strokeStyle = c.fillStyle = ink;
    c.lineWidth = 1.1 * this.ratio;
    const line = (...p) => { c.beginPath(); c.moveTo(p[0], p[1]); c.lineTo(p[2], p[3]); c.stroke(); };
    const s = size, h = size / 2;
    if (number === 1 || number === 6) { line(-h, h, h, -h); line(0, s, s, 0); line(h, s + h, s + h, h); }
    if (number === 2 || number === 6) { line(-h, h, h, s + h); line(0, 0, s, s); line(h, -h, s + h, h); }
    if (number === 3) { c.beginPath(); c.arc(h, h, 1.2 * this.ratio, 0, 7); c.fill(); }
    if (number === 4) line(h, 0, h, s);
    if (number === 5) line(0, h, s, h);
    return c.createPattern(tile, "repeat");
  }
}

// Relative luminance of an rgb() colour: what reads on it, black or white.
function luminance(color) {
  const [r, g, b] = color.match(/[\d.]+/g).map((part) => {
    const share = Number(part) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
