"""What Pillow makes of image files: pillow_oracle.py generate FOLDER | convert LIST | turn LIST | resize CASES

generate: writes an image of every kind to FOLDER.
convert:  LIST has a file a line; writes beside each the bytes of its convert("RGB") as FILE.rgb.
turn:     the same after ImageOps.exif_transpose.
resize:   CASES has a line a case: file, output file, the filter's name, then the numbers x y width height resized_width
          resized_height window_x window_y size; writes the crop, resized and cropped to the window, as bytes.
"""
import pathlib
import sys

import numpy
from PIL import Image, ImageOps

NOISE = numpy.random.default_rng(11)


def picture(width, height, channels=3):
    """Soft shapes with some noise, different in each channel."""
    y, x = numpy.mgrid[0:height, 0:width]
    planes = [127 + 80 * numpy.sin(x / (5 + 3 * c) + c) * numpy.cos(y / (7 + 2 * c)) for c in range(channels)]
    image = numpy.stack(planes, -1) + NOISE.normal(0, 6, (height, width, channels))
    image = image.clip(0, 255).astype(numpy.uint8)
    return image[:, :, 0] if channels == 1 else image


def generate(folder):
    folder = pathlib.Path(folder)
    rgb = Image.fromarray(picture(203, 141))
    for name, subsampling in (("444", 0), ("422", 1), ("420", 2)):
        rgb.save(folder / f"{name}.jpg", quality=90, subsampling=subsampling)
        rgb.save(folder / f"{name}-progressive.jpg", quality=90, subsampling=subsampling, progressive=True)
    rgb.save(folder / "restart.jpg", quality=90, restart_marker_rows=1)
    Image.fromarray(picture(90, 61, 1)).save(folder / "gray.jpg", quality=92)
    cmyk = Image.fromarray(picture(77, 50, 4), "CMYK")
    cmyk.save(folder / "cmyk.jpg", quality=92)
    for width, height in ((1, 1), (1, 37), (37, 1), (2, 3), (17, 16)):
        for name, subsampling in (("444", 0), ("420", 2)):
            Image.fromarray(picture(width, height)).save(folder / f"{width}x{height}-{name}.jpg", quality=90,
                                                         subsampling=subsampling)
    rgb.save(folder / "rgb.png")
    rgb.save(folder / "a-png-named.JPEG", format="PNG")
    rgb.save(folder / "lossless.webp", lossless=True)
    rgb.save(folder / "rgb.bmp")
    rgb.quantize(64).save(folder / "palette.png")
    transparent = rgb.quantize(16)
    transparent.save(folder / "palette-transparent.png", transparency=3)
    Image.fromarray(picture(60, 41, 4), "RGBA").save(folder / "rgba.png")
    Image.fromarray(picture(60, 41, 1)).save(folder / "gray.png")
    Image.fromarray(picture(60, 41, 1)).convert("LA").save(folder / "gray-alpha.png")
    Image.fromarray(picture(60, 41, 1)).convert("1").save(folder / "one-bit.png")
    deep = (picture(60, 41, 1).astype(numpy.uint16) << 8) + 77
    Image.fromarray(deep).save(folder / "gray-16-bit.png")
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x010F] = "somebody's camera"
        exif[0x0112] = orientation
        rgb.save(folder / f"exif-{orientation}.jpg", quality=90, exif=exif)
        rgb.save(folder / f"exif-{orientation}.png", exif=exif)
        rgb.save(folder / f"exif-{orientation}.webp", lossless=True, exif=exif)


def read(file):
    image = Image.open(file)
    if image.mode.startswith("I;16"):  # convert("RGB") makes white of all above 255: take the high byte instead
        image = Image.fromarray((numpy.asarray(image) >> 8).astype(numpy.uint8))
    return image.convert("RGB")


def convert(files):
    for file in pathlib.Path(files).read_text().splitlines():
        pathlib.Path(file + ".rgb").write_bytes(read(file).tobytes())


def turn(files):
    for file in pathlib.Path(files).read_text().splitlines():
        turned = ImageOps.exif_transpose(Image.open(file)).convert("RGB")
        pathlib.Path(file + ".rgb").write_bytes(turned.tobytes())


def resize(cases):
    for line in pathlib.Path(cases).read_text().splitlines():
        file, out, resampling, *numbers = line.split("\t")
        x, y, width, height, resized_width, resized_height, window_x, window_y, size = map(int, numbers)
        crop = read(file).crop((x, y, x + width, y + height))
        resized = crop.resize((resized_width, resized_height), Image.Resampling[resampling])
        window = resized.crop((window_x, window_y, window_x + size, window_y + size))
        pathlib.Path(out).write_bytes(window.tobytes())


command, *rest = sys.argv[1:]
{"generate": generate, "convert": convert, "turn": turn, "resize": resize}[command](*rest)
