"""A folder of many images made of few, for benchmarks that need an epoch of some length."""
import os
import shutil
import tempfile


def temporary_folder():
    """A folder for a `with`, in memory where /dev/shm is there."""
    return tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)


def link_images(images, folder, count):
    """Links the images below `images` as often as it takes to reach `count` files, a folder a class."""
    store = folder / "files"
    shutil.copytree(images, store)
    classes = sorted(p for p in store.iterdir() if p.is_dir())
    files = [(c.name, f) for c in classes for f in sorted(c.rglob("*")) if f.is_file()]
    rounds = -(-count // len(files))
    for name, file in files:
        target = folder / "train" / name
        target.mkdir(parents=True, exist_ok=True)
        for i in range(rounds):
            os.link(file, target / f"{file.stem}_{i:04d}{file.suffix}")
    return rounds * len(files)
