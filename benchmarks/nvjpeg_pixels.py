"""What nvJPEG's engines make of photographs, against Pillow, and how fast: with chroma repeated and interpolated.

    python3 benchmarks/nvjpeg_pixels.py --images DIR

Takes the JPEGs below DIR that the engines decode and Pillow calls RGB, decodes them in one batched call, whole and as
crops that begin at odd pixels, and prints the rate and, by chroma subsampling (the first component's factors), the
differences in steps of 255. Needs a GPU with JPEG engines, and Python's torch, numpy and Pillow.
"""
import argparse
import collections
import ctypes
import io
import pathlib
import time

import numpy as np
import torch
from PIL import Image

HARDWARE = 3  # nvjpegBackend_t
RGBI = 5  # nvjpegOutputFormat_t
INTERPOLATE = 1 << 5  # NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION
PARSER_THREADS = 4
CALLS = 10

Photograph = collections.namedtuple("Photograph", "bytes rgb sampling")


class NvjpegImage(ctypes.Structure):
    _fields_ = [("channel", ctypes.c_void_p * 4), ("pitch", ctypes.c_size_t * 4)]


class Nvjpeg:
    def __init__(self, library, flags):
        self.library = library
        self.handle = ctypes.c_void_p()
        self("nvjpegCreateEx", HARDWARE, None, None, ctypes.c_uint(flags), ctypes.byref(self.handle))
        self.state = self.make("nvjpegJpegStateCreate")

    def __call__(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name} gave status {status}")

    def make(self, name):
        made = ctypes.c_void_p()
        self(name, self.handle, ctypes.byref(made))
        return made

    def supports(self, data, header):
        unsupported = ctypes.c_int(1)
        try:
            self("nvjpegJpegStreamParseHeader", self.handle, data, ctypes.c_size_t(len(data)), header)
            self("nvjpegDecodeBatchedSupported", self.handle, header, ctypes.byref(unsupported))
        except RuntimeError:
            return False
        return unsupported.value == 0


def load_library():
    import nvidia
    for folder in nvidia.__path__:
        for file in sorted(pathlib.Path(folder).glob("*/lib/libnvjpeg.so.*")):
            return ctypes.CDLL(str(file))
    return ctypes.CDLL("libnvjpeg.so")


def photographs_below(folder, library):
    nvjpeg = Nvjpeg(library, 0)
    header = nvjpeg.make("nvjpegJpegStreamCreate")
    found = []
    for file in sorted(folder.rglob("*")):
        if file.suffix.lower() not in (".jpeg", ".jpg"):
            continue
        data = file.read_bytes()
        image = Image.open(io.BytesIO(data))
        if image.format == "JPEG" and image.mode == "RGB" and nvjpeg.supports(data, header):
            found.append(Photograph(data, np.asarray(image).astype(np.int32), tuple(image.layer[0][1:3])))
    return found


def crop_of(photograph, whole):
    height, width, _ = photograph.rgb.shape
    return (0, 0, width, height) if whole else (width // 8 | 1, height // 8 | 1, width // 2 | 1, height // 2 | 1)


def decode(nvjpeg, photographs, whole):
    """The images, [H, W, 3] each, and the seconds that a call takes."""
    count = len(photographs)
    nvjpeg("nvjpegDecodeBatchedInitialize", nvjpeg.handle, nvjpeg.state, count, PARSER_THREADS, RGBI)
    images, params, surfaces = (NvjpegImage * count)(), (ctypes.c_void_p * count)(), []
    for i, photograph in enumerate(photographs):
        x, y, width, height = crop_of(photograph, whole)
        param = nvjpeg.make("nvjpegDecodeParamsCreate")
        nvjpeg("nvjpegDecodeParamsSetOutputFormat", param, RGBI)
        if not whole:
            nvjpeg("nvjpegDecodeParamsSetROI", param, x, y, width, height)
        params[i] = param
        surfaces.append(torch.zeros((height, width, 3), dtype=torch.uint8, device="cuda"))
        images[i].channel[0], images[i].pitch[0] = surfaces[i].data_ptr(), 3 * width
    data = (ctypes.c_char_p * count)(*(p.bytes for p in photographs))
    lengths = (ctypes.c_size_t * count)(*(len(p.bytes) for p in photographs))
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()

    def call():
        nvjpeg("nvjpegDecodeBatchedEx", nvjpeg.handle, nvjpeg.state, data, lengths, images, params,
               ctypes.c_void_p(stream.cuda_stream))
        stream.synchronize()

    call()
    call()
    begin = time.perf_counter()
    for _ in range(CALLS):
        call()
    return [s.cpu().numpy() for s in surfaces], (time.perf_counter() - begin) / CALLS


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    library = load_library()
    photographs = photographs_below(arguments.images, library)
    print(f"{len(photographs)} photographs\n\n| chroma | part | img/s | subsampling | images | RMS | largest |\n"
          "|---|---|---|---|---|---|---|")
    for chroma, flags in (("repeated", 0), ("interpolated", INTERPOLATE)):
        for whole in (True, False):
            found, seconds = decode(Nvjpeg(library, flags), photographs, whole)
            differences = collections.defaultdict(list)
            for photograph, rgb in zip(photographs, found):
                x, y, width, height = crop_of(photograph, whole)
                delta = rgb - photograph.rgb[y:y + height, x:x + width]
                differences[photograph.sampling].append((np.sqrt(np.mean(delta * delta)), np.abs(delta).max()))
            for sampling, each in sorted(differences.items()):
                rms, largest = np.mean([d[0] for d in each]), max(d[1] for d in each)
                print(f"| {chroma} | {'whole' if whole else 'crop'} | {len(photographs) / seconds:,.0f} | {sampling} "
                      f"| {len(each)} | {rms:.3f} | {largest} |")


if __name__ == "__main__":
    main()
