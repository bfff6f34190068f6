#pragma once

namespace slipstream {

/// What an image's EXIF orientation does.
enum class Exif {
  kIgnore,  ///< nothing, as with torchvision's ImageFolder
  kApply,   ///< turns the image before it is cropped, as Pillow's ImageOps.exif_transpose does
};

}  // namespace slipstream
